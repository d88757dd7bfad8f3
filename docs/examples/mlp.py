"""Trains a network in PyTorch on scikit-learn's digits: epochs, evaluation, small batches in groups, mixed precision.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same batches.
"""

import argparse
import logging

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook


def main(*hooks: object) -> None:
    """Train, with these hooks too, and say how well it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/mlp", help="folder of the checkpoints (%(default)s)")
    parser.add_argument("--epochs", type=int, default=20, help="how often to see all digits (%(default)s)")
    parser.add_argument("--stateful", action="store_true", help="take torchdata's loader")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    digits = load_digits()
    data = TensorDataset(torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target))
    train, held_out = random_split(data, [1437, 360])
    held_out_images, held_out_labels = (part.to(device) for part in held_out[:])
    order = torch.Generator().manual_seed(0)
    loader = DataLoader
    if options.stateful:
        from torchdata.stateful_dataloader import StatefulDataLoader

        loader = StatefulDataLoader
    batches = loader(train, batch_size=32, shuffle=True, generator=order)

    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
    accuracy = torch.zeros(())
    state = {"model": model, "optimizer": optimizer, "scaler": scaler, "order": order, "accuracy": accuracy}
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        state=state,
        hooks=[
            CheckpointSaverHook(save_steps=10, best="eval/accuracy", mode="max"),
            LoggingTensorHook(["loss", "eval/accuracy"], every_n_iter=100),
            NanTensorHook("loss"),
            *hooks,
        ],
    ) as session:
        # Of the last evaluation, before this start or none: it is state, so a resumed run knows it too.
        session.publish({"eval/accuracy": accuracy.item()})
        for _ in session.epochs(options.epochs):
            model.train()
            for group in session.steps(batches, group=2):
                optimizer.zero_grad()
                total = torch.zeros((), device=device)
                for images, labels in group:
                    with torch.autocast(device, torch.float16, enabled=device == "cuda"):
                        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device)) / len(group)
                    scaler.scale(loss).backward()
                    total += loss.detach()
                scaler.step(optimizer)
                scaler.update()
                session.publish(loss=total, batches=group)
            model.eval()
            with torch.no_grad():
                accuracy.copy_((model(held_out_images).argmax(1) == held_out_labels).float().mean())
            session.publish({"eval/accuracy": accuracy.item()})
    print(f"held-out digits: accuracy {accuracy.item():.4f}")


if __name__ == "__main__":
    main()
