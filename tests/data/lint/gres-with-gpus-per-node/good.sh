#!/bin/bash
#SBATCH --gpus-per-node=4
#SBATCH --gres=nvme:1
hostname
