#!/bin/bash
#SBATCH --comment="Anna's run"
hostname
