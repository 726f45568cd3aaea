#!/bin/bash
#SBATCH --ntask-per-node=4
hostname
