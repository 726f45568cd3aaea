#!/bin/bash
#SBATCH --job-name=interactive-test
hostname
