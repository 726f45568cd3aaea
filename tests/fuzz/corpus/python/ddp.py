import os, torch.distributed as dist
from . import misc
from ..util.data import (
    Loader,  # shards
    Sampler as S,
)
from models import net, \
    head

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
