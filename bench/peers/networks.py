"""The benchmark networks as plain torch modules: the published shapes, seeded random weights, no other package needed.

network(name, device) builds one for inference, batch norms folded into the convolutions, as every optimiser does first: the
peers shall not lose time that a user can save in a line. example(name, batch, device) makes its input. tiny=True keeps the
structure and shrinks images, sequences and depth, to try programs on a CPU.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

SEED = 1
STATISTICS_BATCH = 8


class Conv(nn.Module):
    """Convolution without bias, batch norm, activation."""

    def __init__(self, inputs, outputs, kernel=1, stride=1, groups=1, padding=None, act=nn.Identity):
        super().__init__()
        padding = kernel // 2 if padding is None else padding
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out")
        self.norm = nn.BatchNorm2d(outputs)
        self.act = act()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Bottleneck(nn.Module):
    """ResNet v1.5: the 3x3 convolution has the stride."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.reduce = Conv(inputs, width, act=nn.ReLU)
        self.spatial = Conv(width, width, 3, stride, act=nn.ReLU)
        self.expand = Conv(width, 4 * width)
        same = stride == 1 and inputs == 4 * width
        self.shortcut = nn.Identity() if same else Conv(inputs, 4 * width, 1, stride)

    def forward(self, x):
        return F.relu(self.expand(self.spatial(self.reduce(x))) + self.shortcut(x))


def resnet50(tiny):
    layers, channels = [Conv(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage, blocks in enumerate((1, 1, 1, 1) if tiny else (3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if stage and block == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        width = inputs * expansion
        expand = [Conv(inputs, width, act=nn.ReLU6)] if expansion > 1 else []
        depthwise = Conv(width, width, 3, stride, groups=width, act=nn.ReLU6)
        self.body = nn.Sequential(*expand, depthwise, Conv(width, outputs))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


def mobilenet_v2(tiny):
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    layers, channels = [Conv(3, 32, 3, 2, act=nn.ReLU6)], 32
    for expansion, outputs, blocks, stride in stages[:4] if tiny else stages:
        for block in range(blocks):
            layers.append(InvertedResidual(channels, outputs, stride if block == 0 else 1, expansion))
            channels = outputs
    layers.append(Conv(channels, 1280, act=nn.ReLU6))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class CSP(nn.Module):
    """Cross-stage partial block of n bottlenecks (C3)."""

    def __init__(self, inputs, outputs, n, shortcut=True):
        super().__init__()
        half = outputs // 2
        self.left, self.right = Conv(inputs, half, act=nn.SiLU), Conv(inputs, half, act=nn.SiLU)
        pairs = [nn.Sequential(Conv(half, half, act=nn.SiLU), Conv(half, half, 3, act=nn.SiLU)) for _ in range(n)]
        self.blocks, self.shortcut = nn.ModuleList(pairs), shortcut
        self.merge = Conv(outputs, outputs, act=nn.SiLU)

    def forward(self, x):
        y = self.left(x)
        for block in self.blocks:
            y = y + block(y) if self.shortcut else block(y)
        return self.merge(torch.cat((y, self.right(x)), 1))


def down(inputs, outputs):
    return Conv(inputs, outputs, 3, 2, act=nn.SiLU)


class PyramidPool(nn.Module):
    """Three chained 5x5 maximum pools (SPPF)."""

    def __init__(self, channels):
        super().__init__()
        self.reduce = Conv(channels, channels // 2, act=nn.SiLU)
        self.expand = Conv(2 * channels, channels, act=nn.SiLU)

    def forward(self, x):
        pools = [self.reduce(x)]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        return self.expand(torch.cat(pools, 1))


class YOLOv5s(nn.Module):
    """Backbone, path-aggregation neck and heads with the shapes of YOLOv5s v6; the outputs are the heads' raw maps."""

    def __init__(self, tiny):
        super().__init__()
        n = 1 if tiny else 3
        self.stem = nn.Sequential(Conv(3, 32, 6, 2, padding=2, act=nn.SiLU), down(32, 64), CSP(64, 64, 1))
        self.c3 = nn.Sequential(down(64, 128), CSP(128, 128, min(n, 2)))
        self.c4 = nn.Sequential(down(128, 256), CSP(256, 256, n))
        self.c5 = nn.Sequential(down(256, 512), CSP(512, 512, 1), PyramidPool(512))
        self.top5, self.top4 = Conv(512, 256, act=nn.SiLU), Conv(256, 128, act=nn.SiLU)
        self.up4, self.up3 = CSP(512, 256, 1, False), CSP(256, 128, 1, False)
        self.down3, self.out4 = down(128, 128), CSP(256, 256, 1, False)
        self.down4, self.out5 = down(256, 256), CSP(512, 512, 1, False)
        self.heads = nn.ModuleList(nn.Conv2d(channels, 255, 1) for channels in (128, 256, 512))

    def forward(self, x):
        c3 = self.c3(self.stem(x))
        c4 = self.c4(c3)
        top5 = self.top5(self.c5(c4))
        top4 = self.top4(self.up4(torch.cat((F.interpolate(top5, scale_factor=2.0), c4), 1)))
        p3 = self.up3(torch.cat((F.interpolate(top4, scale_factor=2.0), c3), 1))
        p4 = self.out4(torch.cat((self.down3(p3), top4), 1))
        p5 = self.out5(torch.cat((self.down4(p4), top5), 1))
        return tuple(head(p) for head, p in zip(self.heads, (p3, p4, p5)))


class Attention(nn.Module):
    """12 heads of 64, one projection for query, key and value."""

    def __init__(self, causal):
        super().__init__()
        self.qkv, self.out, self.causal = nn.Linear(768, 2304), nn.Linear(768, 768), causal

    def forward(self, x):
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, 12, 64).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, 768))


class Transformer(nn.Module):
    """BERT-base's encoder (norms after the residual), or GPT-2 small (norms before, causal) with the last token's logits."""

    def __init__(self, causal, tiny):
        super().__init__()
        vocabulary, positions = (50257, 1024) if causal else (30522, 512)
        self.causal, self.depth = causal, 2 if tiny else 12
        self.tokens, self.positions = nn.Embedding(vocabulary, 768), nn.Embedding(positions, 768)
        self.norm = nn.LayerNorm(768, 1e-5 if causal else 1e-12)
        gelu = nn.GELU(approximate="tanh" if causal else "none")
        self.blocks = nn.ModuleList(
            nn.ModuleDict({
                "attention": Attention(causal), "norm1": nn.LayerNorm(768),
                "mlp": nn.Sequential(nn.Linear(768, 3072), gelu, nn.Linear(3072, 768)), "norm2": nn.LayerNorm(768),
            })
            for _ in range(self.depth)
        )  # fmt: skip
        if not causal:
            self.segments = nn.Embedding(2, 768)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        if not self.causal:
            x = self.norm(x + self.segments.weight[0])
        for block in self.blocks:
            if self.causal:
                x = x + block["attention"](block["norm1"](x))
                x = x + block["mlp"](block["norm2"](x))
            else:
                x = block["norm1"](x + block["attention"](x))
                x = block["norm2"](x + block["mlp"](x))
        return F.linear(self.norm(x[:, -1]), self.tokens.weight) if self.causal else x


# name: constructor, side of the image or number of tokens, the same when tiny
NETWORKS = {
    "resnet50": (resnet50, 224, 64),
    "mobilenet_v2": (mobilenet_v2, 224, 64),
    "yolov5s": (YOLOv5s, 640, 64),
    "bert_base": (lambda tiny: Transformer(False, tiny), 128, 16),
    "gpt2_small": (lambda tiny: Transformer(True, tiny), 1024, 16),
}
SEQUENCES = ("bert_base", "gpt2_small")


def example(name, batch, device, tiny=False):
    """The network's input: normal noise [batch, 3, side, side], or token numbers [batch, tokens]; seeded, never zeros."""
    size = NETWORKS[name][2 if tiny else 1]
    generator = torch.Generator(device).manual_seed(SEED)
    if name in SEQUENCES:
        return torch.randint(1, 30000, (batch, size), device=device, generator=generator)
    return torch.randn(batch, 3, size, size, device=device, generator=generator)


@torch.no_grad()
def network(name, device, tiny=False):
    """A seeded random network in fp32 for inference.

    Activations keep their range through the depth: the batch norms get the statistics of a random batch, then are folded.
    """
    torch.manual_seed(SEED)
    with torch.device(device):
        net = NETWORKS[name][0](tiny)
    units = [module for module in net.modules() if isinstance(module, Conv)]
    for unit in units:
        unit.norm.momentum = 1.0  # the running statistics become those of the one batch below
    if units:
        net.train()(example(name, STATISTICS_BATCH, device, tiny))
    net.eval()
    for unit in units:
        unit.conv, unit.norm = fuse_conv_bn_eval(unit.conv, unit.norm), nn.Identity()
    return net
