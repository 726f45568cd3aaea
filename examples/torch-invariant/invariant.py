# SPDX-License-Identifier: Apache-2.0
"""Data parallel whose sums, and so losses and weights, are the same bits for any number of ranks. To be copied.

A batch is cut into a fixed number of shards, each computed by itself on one rank. Sums over shards go along one binary
tree over all of them, whichever rank has which: [lo, hi) is the sum of its two halves, the left one not the smaller.
dttrain's sums go along the same tree."""
import torch
import torch.distributed as dist


def middle(lo, hi):
    return lo + (hi - lo + 1) // 2


def tree_sum(lo, hi, part):
    """The sum over [lo, hi). `part(lo, hi)` is the sum over that node if it is there already, otherwise None."""
    known = part(lo, hi)
    if known is not None:
        return known
    return tree_sum(lo, middle(lo, hi), part) + tree_sum(middle(lo, hi), hi, part)


def cover(lo, hi, run):
    """The largest nodes of the tree below [lo, hi) that together are `run`, a range of shards; from left to right."""
    if hi <= run.start or run.stop <= lo:
        return []
    if run.start <= lo and hi <= run.stop:
        return [(lo, hi)]
    return cover(lo, middle(lo, hi), run) + cover(middle(lo, hi), hi, run)


class Invariant:
    """Sums over `shards` shards, at least one a rank. All ranks call `total` together."""

    def __init__(self, shards):
        self.shards, self.rank, self.world = shards, dist.get_rank(), dist.get_world_size()
        if shards < self.world:
            raise ValueError(f"{self.world} ranks need as many shards, there are {shards}")

    def part(self, count, rank):
        """Which of `count` things are that rank's."""
        return range(count * rank // self.world, count * (rank + 1) // self.world)

    def total(self, of_shard):
        """The sum of `of_shard(shard)`, a vector, over all shards, on all ranks; computed here for our shards."""
        nodes = [cover(0, self.shards, self.part(self.shards, rank)) for rank in range(self.world)]
        ours = torch.stack([tree_sum(*node, lambda lo, hi: of_shard(lo) if hi - lo == 1 else None) for node in nodes[self.rank]])
        slices = [self.part(ours.shape[1], rank) for rank in range(self.world)]  # rank r finishes the sum of slice r
        pieces = [ours[:, s.start:s.stop].contiguous() for s in slices]
        got = [torch.empty(len(nodes[rank]), len(slices[self.rank]), dtype=ours.dtype, device=ours.device) for rank in range(self.world)]
        got[self.rank] = pieces[self.rank]
        others = [rank for rank in range(self.world) if rank != self.rank]
        messages = [dist.P2POp(dist.isend, pieces[rank], rank) for rank in others] + [dist.P2POp(dist.irecv, got[rank], rank) for rank in others]
        for message in dist.batch_isend_irecv(messages) if messages else []:
            message.wait()
        sums = {node: row for rank in range(self.world) for node, row in zip(nodes[rank], got[rank])}
        mine = tree_sum(0, self.shards, lambda lo, hi: sums.get((lo, hi)))
        longest = max(map(len, slices))
        whole = [torch.empty(longest, dtype=mine.dtype, device=mine.device) for _ in slices]
        dist.all_gather(whole, torch.nn.functional.pad(mine, (0, longest - len(mine))))
        return torch.cat([piece[:len(s)] for piece, s in zip(whole, slices)])


def step(sums, model, loss_of_shard, extra=0.0):
    """One backward pass over the whole batch: sets the gradients to those of the mean loss over all shards.

    `loss_of_shard(shard)` is the loss of that shard, all shards being of one size. Returns the mean loss, the same bits on
    all ranks, and the sum of `extra` over all ranks (a wish to stop, for example)."""
    parameters = [p for p in model.parameters() if p.requires_grad]

    def of_shard(shard):
        loss = loss_of_shard(shard)
        gradients = torch.autograd.grad(loss, parameters)
        ours_first = shard == sums.part(sums.shards, sums.rank).start
        return torch.cat([g.reshape(-1) for g in gradients] + [loss.detach().reshape(1), loss.new_tensor([extra if ours_first else 0.0])])

    total = sums.total(of_shard)
    for parameter, gradient in zip(parameters, total[:-2].split([p.numel() for p in parameters])):
        parameter.grad = gradient.view_as(parameter) / sums.shards
    return total[-2].item() / sums.shards, total[-1].item()
