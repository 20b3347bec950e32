//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"filewise/cmd/filewise/filewisetest"
)

// goTool returns a go command that runs in the product's module.
func goTool(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	dir, err := filewisetest.Product()
	if err != nil {
		cmd.Err = err
	}
	cmd.Dir = dir
	return cmd
}

// goList returns the words that go list prints in the product's module.
func goList(ctx context.Context, args ...string) ([]string, error) {
	out, err := goTool(ctx, append([]string{"list"}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return strings.Fields(string(out)), nil
}
