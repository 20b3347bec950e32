//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// product returns the directory of the product's module, whose tests the rows run.
var product = sync.OnceValues(func() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", "filewise").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m filewise: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// goTool returns a command of go that runs in the product's module.
func goTool(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	dir, err := product()
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
