"""The networks of the subjects `convnet` and `chargpt` in PyTorch on one core, beside them.

Run it as root by `chrt -f 1 taskset -c 1 python3 networks.py` where torch is installed. A line is a case and the milliseconds
of a call, least of two seconds: a step of training by Adam, and scores without a gradient.
"""
import torch
from torch import nn
import torch.nn.functional as F

from least import least

torch.set_num_threads(1)
torch.manual_seed(0)


class Convnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.out = nn.Conv2d(1, 8, 5), nn.Conv2d(8, 16, 5), nn.Linear(256, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.out(x.flatten(1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.mix = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, places, width = x.shape
        q, k, v = (y.view(batch, places, self.heads, -1).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mix(y.transpose(1, 2).reshape(batch, places, width))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, symbols=65, places=64, layers=4, width=128, heads=4):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(symbols, width), nn.Parameter(torch.randn(places, width) * 0.02)
        self.blocks, self.ln = nn.ModuleList(Block(width, heads) for _ in range(layers)), nn.LayerNorm(width)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.ln(x) @ self.tokens.weight.T


def step_of(model, x, y):
    adam = torch.optim.Adam(model.parameters(), 1e-3)

    def step():
        adam.zero_grad()
        out = model(x)
        F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1)).backward()
        adam.step()

    return step


def report(name, call):
    print(f"{name:24} {1e3 * least(call, 2.0):9.3f} ms", flush=True)


def forward_of(model, x):
    def forward():
        with torch.inference_mode():
            return model(x)

    return forward


convnet = Convnet()
images, labels = torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))
report("convnet step 64", step_of(convnet, images, labels))
report("convnet forward 64", forward_of(convnet, images))
report("convnet forward 1", forward_of(convnet, images[:1]))
gpt = Gpt()
ids = torch.randint(0, 65, (12, 64))
report("chargpt step 12", step_of(gpt, ids, torch.randint(0, 65, (12, 64))))
report("chargpt forward 1", forward_of(gpt, ids[:1]))
