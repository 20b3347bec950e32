//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// goList are the lines that go list prints.
func goList(ctx context.Context, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return strings.Fields(string(out)), nil
}
