//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// network gives hosts their own network namespaces, if this host permits. Each gets an address on a bridge, and
// Temporal is at the bridge's first address.
type network struct {
	bridge string
	subnet string // of a /24, without the last number; empty if all use the loopback address
	made   []string
}

func newNetwork(ctx context.Context, hosts []string) *network {
	n := os.Getpid()
	w := &network{bridge: fmt.Sprint("fw", n), subnet: fmt.Sprintf("10.213.%d.", n%256)}
	err := ip(ctx, "link", "add", w.bridge, "type", "bridge")
	if err == nil {
		err = errors.Join(ip(ctx, "addr", "add", w.subnet+"1/24", "dev", w.bridge), ip(ctx, "link", "set", w.bridge, "up"))
	}
	for i, host := range hosts {
		if err != nil {
			break
		}
		space, veth := w.space(host), fmt.Sprintf("%sv%d", w.bridge, i)
		w.made = append(w.made, space)
		err = errors.Join(ip(ctx, "netns", "add", space), ip(ctx, "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", space),
			ip(ctx, "link", "set", veth, "master", w.bridge, "up"), ip(ctx, "-n", space, "link", "set", "lo", "up"),
			ip(ctx, "-n", space, "addr", "add", fmt.Sprintf("%s%d/24", w.subnet, i+2), "dev", "eth0"),
			ip(ctx, "-n", space, "link", "set", "eth0", "up"))
	}
	if err != nil {
		fmt.Printf("no network namespaces here, all hosts are in this one: %v\n", err)
		w.close(ctx)
		w.subnet = ""
	}
	return w
}

// own returns the address of this process's servers.
func (w *network) own() string {
	if w.subnet == "" {
		return "127.0.0.1"
	}
	return w.subnet + "1"
}

func (w *network) space(host string) string { return w.bridge + "-" + host }

// in returns the command line that executes a program on a host. For other names it is this host.
func (w *network) in(host string, args ...string) []string {
	for _, space := range w.made {
		if w.subnet != "" && space == w.space(host) {
			apart := []string{"ip", "netns", "exec", space, "unshare", "--pid", "--mount-proc", "--fork", "--kill-child"} // as a container has
			return append(apart, args...)
		}
	}
	return args
}

func (w *network) close(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, space := range w.made {
		_ = ip(ctx, "netns", "del", space) // with everything in it
	}
	_ = ip(ctx, "link", "del", w.bridge) // it may not have been made
}

func ip(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
