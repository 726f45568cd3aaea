#!/bin/bash
export NCCL_P2P_DISABLE=1
srun python train.py
