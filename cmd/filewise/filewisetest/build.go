package filewisetest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Product returns the directory of the product's module, even if called in proof's module.
var Product = sync.OnceValues(func() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", "filewise").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m filewise: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// Build builds the program to a path.
func Build(ctx context.Context, path string) error {
	dir, err := Product()
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "-C", dir, "build", "-o", path, "./cmd/filewise").CombinedOutput(); err != nil {
		return fmt.Errorf("building filewise: %w\n%s", err, out)
	}
	return nil
}
