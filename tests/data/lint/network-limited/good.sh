#!/bin/bash
export NCCL_P2P_DISABLE=0
srun python train.py
