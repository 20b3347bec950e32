//go:build !windows

package plan

const volumeExample = "fast=/mnt/nvme"
