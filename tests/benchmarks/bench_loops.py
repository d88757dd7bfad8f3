"""What hooks cost a loop of one's own in PyTorch, a step: a NaN guard, logging and summaries.

    python tests/benchmarks/bench_loops.py [--steps 2000] [--repeats 15]

Prints a table for each body of the loop: one that trains a tiny MLP on the CPU, and one that does nothing, so that what
remains is the cost alone. All rows go through the same batches with the same body, in turns, and each figure is the
median over the repeats of the difference to the bare `for` beside it, in µs a step.

| figure | what is timed |
|---|---|
| alone | the framework's loop without duties |
| duties | with all: a NaN guard on the loss in each step, the loss logged and written as a curve every 100 steps |
| NaN kernel | what the guard computes with the loss tensor, timed apart |
| cost | duties, less the NaN kernel: ours shall be 5 at most on a quiet machine |

Beside the session stand a loop in which the same is written by hand, and where they are installed Lightning (with a
callback of one's own as the guard, since it has none for a training step) and Ignite (with its `TerminateOnNan`).
Opening and closing are not timed. What is written by hand shows what a body does to the caches: after one that computes
for long, everything that follows it takes several times as long.
"""

import argparse
import gc
import logging
import math
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import tenterhooks as th
from tenterhooks.summaries import open_summary_writer
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_summary import SummarySaverHook

PERIOD = 100

Body = Callable[[Any], Any]
_log = logging.getLogger("loops")


class Loader:
    """Gives batches. Lightning takes a list for one of loaders."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


class Contender:
    """A way to go through batches, with duties or without."""

    name = ""
    needs = "torch"

    def __init__(self, body: Body, batches: list[Any], directory: str) -> None:
        self.body = body
        self.batches = batches
        self.directory = directory

    def seconds(self, *, duties: bool) -> float:
        """How long the loop took."""
        raise NotImplementedError

    @staticmethod
    def check(loss: Any) -> object:
        """What the NaN guard computes."""
        raise NotImplementedError


class Bare(Contender):
    name = "for"

    def seconds(self, *, duties: bool) -> float:
        body, batches = self.body, self.batches
        start = time.perf_counter()
        for batch in batches:
            body(batch)
        return time.perf_counter() - start


class Tenterhooks(Contender):
    name = "tenterhooks"

    def seconds(self, *, duties: bool) -> float:
        body, batches = self.body, self.batches
        hooks = [
            NanTensorHook("loss"),
            LoggingTensorHook("loss", every_n_iter=PERIOD),
            SummarySaverHook(save_steps=PERIOD, output_dir=self.directory, tensors="loss"),
        ]
        with th.MonitoredSession(hooks=hooks if duties else []) as session:
            start = time.perf_counter()
            for batch in session.steps(batches):
                session.publish(loss=body(batch))
            took = time.perf_counter() - start
            assert session.global_step == len(batches)
        return took

    @staticmethod
    def check(loss: Any) -> object:
        number = loss.item()
        return number != number  # noqa: PLR0124


class ByHand(Contender):
    """The same duties written into the loop, with the same writer of curves."""

    name = "by hand"

    def seconds(self, *, duties: bool) -> float:
        body, check = self.body, self.check
        if not duties:
            return Bare(body, self.batches, self.directory).seconds(duties=False)
        curves = open_summary_writer(self.directory)
        start = time.perf_counter()
        for step, batch in enumerate(self.batches):
            loss = body(batch).detach()
            if check(loss):
                raise RuntimeError("NaN loss")
            if step % PERIOD == 0:
                _log.info("step %d: loss = %s", step, loss)
                curves.add_scalar("loss", float(loss), step)
                curves.flush()
        took = time.perf_counter() - start
        curves.close()
        return took

    @staticmethod
    def check(loss: Any) -> object:
        return math.isnan(loss.item())


class Lightning(Contender):
    name = "Lightning"
    needs = "lightning"

    def seconds(self, *, duties: bool) -> float:
        lightning, torch = import_module("lightning"), import_module("torch")
        body, times = self.body, []

        class Module(lightning.LightningModule):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.automatic_optimization = False

            def training_step(self, batch: Any, index: int) -> Any:
                loss = body(batch)
                if duties:
                    self.log("loss", loss)
                return loss

            def configure_optimizers(self) -> None:
                return None

            def on_train_start(self) -> None:
                times.append(time.perf_counter())

            def on_train_end(self) -> None:
                times.append(time.perf_counter())

        class Guard(lightning.Callback):  # type: ignore[misc,name-defined]
            def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, index: int) -> None:
                if torch.isnan(outputs["loss"]):
                    raise RuntimeError("NaN loss")
                if index % PERIOD == 0:
                    _log.info("step %d: loss = %s", index, outputs["loss"])

        for name in ("lightning.pytorch", "lightning.fabric"):
            logging.getLogger(name).setLevel(logging.WARNING)
        logger = import_module("lightning.pytorch.loggers").TensorBoardLogger(self.directory) if duties else False
        trainer = lightning.Trainer(
            accelerator="cpu",
            max_epochs=1,
            callbacks=[Guard()] if duties else [],
            logger=logger,
            log_every_n_steps=PERIOD,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Module(), Loader(self.batches))
        start, end = times
        return float(end - start)

    @staticmethod
    def check(loss: Any) -> object:
        return bool(import_module("torch").isnan(loss))


class Ignite(Contender):
    name = "Ignite"
    needs = "ignite"

    def seconds(self, *, duties: bool) -> float:
        events, handlers = import_module("ignite.engine").Events, import_module("ignite.handlers")
        engine = import_module("ignite.engine").Engine(lambda engine, batch: self.body(batch))
        times: list[float] = []
        now_and_then = events.ITERATION_COMPLETED(every=PERIOD)
        curves: Any = None
        if duties:
            engine.add_event_handler(events.ITERATION_COMPLETED, handlers.TerminateOnNan())
            engine.add_event_handler(
                now_and_then, lambda: _log.info("step %d: loss = %s", engine.state.iteration, engine.state.output)
            )
            curves = import_module("ignite.handlers.tensorboard_logger").TensorboardLogger(log_dir=self.directory)
            curves.attach_output_handler(
                engine, now_and_then, tag="train", output_transform=lambda loss: {"loss": loss.detach()}
            )
        engine.add_event_handler(events.STARTED, lambda: times.append(time.perf_counter()))
        engine.add_event_handler(events.COMPLETED, lambda: times.append(time.perf_counter()))
        engine.run(self.batches, max_epochs=1)
        if curves is not None:
            curves.close()
        start, end = times
        return end - start

    @staticmethod
    def check(loss: Any) -> object:
        return not bool(import_module("torch").isfinite(loss).all())


CONTENDERS: list[type[Contender]] = [Tenterhooks, ByHand, Lightning, Ignite]


def mlp() -> tuple[Body, Any]:
    """A body that trains a tiny network, and a batch for it."""
    torch = import_module("torch")
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def body(batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return body, torch.randn(16, 8)


def nothing() -> tuple[Body, Any]:
    """A body that gives a loss, of a kind such as a model gives, and computes nothing."""
    loss = import_module("torch").ones((), requires_grad=True) * 0.5
    return lambda batch: loss, import_module("torch").zeros(1)


def check_seconds(contender: Contender) -> float:
    """How long what the NaN guard computes takes in so many steps."""
    check, loss = contender.check, contender.body(contender.batches[0]).detach()
    start = time.perf_counter()
    for _ in contender.batches:
        check(loss)
    return time.perf_counter() - start


def measure(contenders: list[Contender], bare: Contender, repeats: int) -> dict[str, dict[str, float]]:
    """The medians of each contender, in µs a step."""
    found: dict[str, dict[str, list[float]]] = {contender.name: {} for contender in contenders}
    for repeat in range(repeats + 1):
        for contender in contenders:
            gc.collect()
            # Before and after, so that a machine that gets slower on the way is on both sides.
            bares = [bare.seconds(duties=False)]
            times = {name: contender.seconds(duties=name == "duties") for name in ("alone", "duties")}
            kernel = check_seconds(contender)
            bares.append(bare.seconds(duties=False))
            limit = statistics.mean(bares)
            figures = {"for": limit, **{name: taken - limit for name, taken in times.items()}, "kernel": kernel}
            figures["cost"] = figures["duties"] - kernel
            if repeat:  # The first one imports what it needs.
                for name, figure in figures.items():
                    found[contender.name].setdefault(name, []).append(figure / len(bare.batches) * 1e6)
    return {
        contender: {name: statistics.median(values) for name, values in figures.items()}
        for contender, figures in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000, help="of each loop")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", nargs="+", default=[], help="names of contenders, or their beginnings")
    arguments = parser.parse_args()
    if find_spec("torch") is None:
        parser.exit(1, "PyTorch is not installed: pip install -r requirements-torch.txt\n")
    # What is logged is made into text, and written nowhere.
    logging.basicConfig(level=logging.INFO, filename=os.devnull)
    # Lightning advises on all sorts of things.
    warnings.simplefilter("ignore")
    torch = import_module("torch")
    torch.set_num_threads(1)
    for title, make in (("a tiny MLP", mlp), ("nothing", nothing)):
        torch.manual_seed(0)
        body, batch = make()
        batches = [batch] * arguments.steps
        with tempfile.TemporaryDirectory() as directory:
            kinds = [kind for kind in CONTENDERS if not arguments.only or kind.name.startswith(tuple(arguments.only))]
            there = [kind(body, batches, directory) for kind in kinds if find_spec(kind.needs) is not None]
            found = measure(there, Bare(body, batches, directory), arguments.repeats)
        bare = statistics.median([figures["for"] for figures in found.values()]) if found else math.nan
        print(f"\nThe body does: {title}. µs a step more than the bare `for`, which takes {bare:.2f}\n")
        print("|  | alone | duties | NaN kernel | cost |\n|---|---|---|---|---|")
        for kind in kinds:
            if kind.name not in found:
                print(f"| {kind.name} | not installed |  |  |  |")
                continue
            row = [f"{found[kind.name][name]:.2f}" for name in ("alone", "duties", "kernel", "cost")]
            print(f"| {kind.name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
