"""How far logits are from those that are taken for the truth, position by position. Needs PyTorch."""
import torch

ROWS = 32  # at a time, in float64


class Distance:
    """The distances of one engine, run in one way."""

    def __init__(self):
        self.kl, self.same, self.rms, self.truth_nll, self.nll = [], [], [], [], []

    def add(self, expected, got, following):
        """Rows of logits; `following` has the token that comes next, or -1."""
        for begin in range(0, len(expected), ROWS):
            self._add(expected[begin:begin + ROWS].double(), got[begin:begin + ROWS].double(), following[begin:begin + ROWS])

    def _add(self, expected, got, following):
        difference = got - expected
        difference -= difference.mean(-1, keepdim=True)
        p, q = expected.log_softmax(-1), got.log_softmax(-1)
        kl = (p.exp() * (p - q)).sum(-1)
        self.kl += [float(x) if x == x else float("inf") for x in kl]  # of no number: as far as can be
        self.same += (expected.argmax(-1) == got.argmax(-1)).tolist()
        self.rms += difference.square().mean(-1).sqrt().nan_to_num(float("inf")).tolist()
        for i, token in enumerate(following):
            if token >= 0:
                self.truth_nll.append(float(-p[i, token]))
                self.nll.append(float(-q[i, token]))

    def figures(self):
        ordered = sorted(self.kl)
        n = len(ordered)
        mean = sum(ordered) / n
        ratio = (sum(self.nll) - sum(self.truth_nll)) / max(1, len(self.nll))
        return {"positions": n, "kl_mean": mean, "kl_p99": ordered[min(n - 1, int(0.99 * n))], "kl_max": ordered[-1],
                "top1": sum(self.same) / n, "perplexity": torch.tensor(ratio, dtype=torch.float64).exp().item(),
                "truth_perplexity": torch.tensor(sum(self.truth_nll) / max(1, len(self.nll)), dtype=torch.float64).exp().item(),
                "logit_rms": max(self.rms)}


def faults_of(figures, bounds):
    """What is out of bounds, in words; empty if nothing is."""
    found, n = [], figures["positions"]
    if not figures["kl_mean"] <= bounds.kl_mean:
        found.append(f"KL mean above {bounds.kl_mean:.1e}")
    if not figures["kl_max"] <= bounds.kl_max:
        found.append(f"KL max above {bounds.kl_max:.1e}")
    if not figures["top1"] >= bounds.top1_of(n):
        found.append(f"top-1 below {bounds.top1_of(n):.4f}")
    if not abs(figures["perplexity"] - 1) <= bounds.perplexity_of(n):
        found.append(f"perplexity ratio further from 1 than {bounds.perplexity_of(n):.4f}")
    if not figures["logit_rms"] <= bounds.logit_rms:
        found.append(f"difference of logits above {bounds.logit_rms}")
    return found


def in_words(figures):
    return (f"KL mean {figures['kl_mean']:.2e}, p99 {figures['kl_p99']:.2e}, max {figures['kl_max']:.2e}, top-1 {figures['top1']:.4f}, "
            f"perplexity x {figures['perplexity']:.5f}, logits within {figures['logit_rms']:.3f}, {figures['positions']} positions")
