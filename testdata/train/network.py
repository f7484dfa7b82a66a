"""The embedded model: a small residual CNN that has one of each thing an engine fuses."""

from torch import nn
import torch


class ConvNorm(nn.Sequential):
    """Conv-BatchNorm, or Conv-BatchNorm-activation."""

    def __init__(self, inputs, outputs, kernel, stride=1, groups=1, activation=None):
        super().__init__()
        self.add_module("conv", nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False))
        self.add_module("norm", nn.BatchNorm2d(outputs))
        if activation is not None:
            self.add_module("act", activation)


class Residual(nn.Module):
    """relu(F(x) + shortcut(x)); the shortcut is a projection where shapes differ, else the identity."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.first = ConvNorm(inputs, outputs, 3, stride, activation=nn.ReLU())
        self.second = ConvNorm(outputs, outputs, 3)
        self.shortcut = None if inputs == outputs and stride == 1 else ConvNorm(inputs, outputs, 1, stride)
        self.relu = nn.ReLU()

    def forward(self, x):
        skip = x if self.shortcut is None else self.shortcut(x)
        return self.relu(self.second(self.first(x)) + skip)


class Separable(nn.Module):
    """Depthwise 3x3 and pointwise 1x1, both clipped to 0..6."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.depthwise = ConvNorm(inputs, inputs, 3, groups=inputs, activation=nn.ReLU6())
        self.pointwise = ConvNorm(inputs, outputs, 1, activation=nn.ReLU6())

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Inception(nn.Module):
    """Parallel 1x1, reduced 3x3 and pooled 1x1 branches, concatenated. The two 1x1 that read x can become one."""

    def __init__(self, inputs, narrow, reduced, wide, pooled):
        super().__init__()
        self.one = ConvNorm(inputs, narrow, 1, activation=nn.ReLU())
        self.reduce = ConvNorm(inputs, reduced, 1, activation=nn.ReLU())
        self.three = ConvNorm(reduced, wide, 3, activation=nn.ReLU())
        self.pool = nn.MaxPool2d(3, 1, 1)
        self.project = ConvNorm(inputs, pooled, 1, activation=nn.ReLU())

    def forward(self, x):
        return torch.cat((self.one(x), self.three(self.reduce(x)), self.project(self.pool(x))), 1)


class SqueezeExcite(nn.Module):
    """Scales each channel by a gate in 0..1 computed from all channels' means."""

    def __init__(self, channels, squeezed):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.relu = nn.ReLU()
        self.excite = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.excite(self.relu(self.squeeze(self.pool(x)))))


class Head(nn.Module):
    """Conv-BatchNorm-GELU, global average pooling, fully connected."""

    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.expand = ConvNorm(inputs, hidden, 1, activation=nn.GELU())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classify = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.classify(self.flatten(self.pool(self.expand(x))))


class DigitNet(nn.Module):
    """image [batch,1,32,32] in 0..1 -> logits [batch,10]."""

    def __init__(self):
        super().__init__()
        self.stem = ConvNorm(1, 24, 3, activation=nn.ReLU())  # 32x32
        self.block1 = Residual(24, 24)
        self.block2 = Residual(24, 48, stride=2)  # 16x16
        self.separable = Separable(48, 64)
        self.inception = Inception(64, narrow=32, reduced=24, wide=40, pooled=24)
        self.excite = SqueezeExcite(96, 24)
        self.block3 = Residual(96, 128, stride=2)  # 8x8
        self.head = Head(128, 80, 10)

    def forward(self, x):
        x = self.stem(x)
        x = self.block2(self.block1(x))
        x = self.excite(self.inception(self.separable(x)))
        return self.head(self.block3(x))


class Classifier(nn.Module):
    """DigitNet with its Softmax, which training leaves to the loss."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.softmax = nn.Softmax(dim=1)

    def forward(self, image):
        return self.softmax(self.net(image))
