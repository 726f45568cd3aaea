#!/bin/bash
#SBATCH --time=24h
hostname
