#!/bin/bash
#SBATCH --account=<your account>
hostname
