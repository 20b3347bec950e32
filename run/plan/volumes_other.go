//go:build !windows

package plan

const dirExample = "/mnt/nvme"
