//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/creack/pty"
)

// row describes a command that is measured at three sizes.
type row struct {
	name, unit string
	sizes      [3]int
	// most limits the peak memory at the middle size, in MiB. CI's long part checks it.
	most int
	why  string // explains the exponents
	// prepare makes the command's input, in a separate process. If nil, nothing has to be made.
	prepare func(ctx context.Context, p *place, r row, size int) error
	// command returns the measured command: arguments of filewise, or work in a separate process.
	command func(p *place, r row, size int) []string
	work    func(ctx context.Context, p *place, r row, size int, stdout, stderr io.Writer) error
	// reference returns another program that does the same work. If nil, none is measured.
	reference func(p *place, r row, size int) []string
}

type key struct {
	Row  string `json:"row"`
	Size int    `json:"size"`
}

// cell holds what a row costs at one size.
type cell struct {
	key
	Unit    string  `json:"unit"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_s"`
	Peak    float64 `json:"peak_mib"`
	Silent  float64 `json:"silent_s"` // the longest time without output on a terminal
	Why     string  `json:"why,omitempty"`
	Date    string  `json:"date"`
	// BesideCPU and BesideSeconds are the other program's figures. 0 means there is none.
	BesideCPU     float64 `json:"beside_cpu_s,omitempty"`
	BesideSeconds float64 `json:"beside_seconds,omitempty"`
}

func (p *place) measure(ctx context.Context, r row, size int) (c cell, err error) {
	args := []string{p.self, "work", r.name, fmt.Sprint(size), p.dir}
	if r.prepare != nil {
		out, err := exec.CommandContext(ctx, p.self, "prepare", r.name, fmt.Sprint(size), p.dir).CombinedOutput()
		if err != nil {
			return c, fmt.Errorf("prepare: %w: %s", err, out)
		}
	}
	if r.command != nil {
		args = append([]string{p.filewise}, r.command(p, r, size)...)
	}
	c, err = p.spent(ctx, args)
	if err == nil && r.reference != nil {
		other, err := p.spent(ctx, r.reference(p, r, size))
		if err != nil {
			return c, fmt.Errorf("beside: %w", err)
		}
		c.BesideCPU, c.BesideSeconds = other.CPU, other.Seconds
	}
	c.key, c.Unit, c.Why, c.Date = key{r.name, size}, r.unit, r.why, time.Now().UTC().Format(time.DateOnly)
	return c, err
}

// spent executes a command on a terminal. This process is small so as to keep out of the peak, since a child's peak
// begins with its parent's.
func (p *place) spent(ctx context.Context, args []string) (c cell, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_DATA_HOME="+p.dir, "XDG_STATE_HOME="+p.dir, "PAGER=cat", "TERM=xterm")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	begun := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return c, err
	}
	defer terminal.Close()
	said, tail := begun, []byte(nil)
	buffer := make([]byte, 16<<10)
	for {
		n, err := terminal.Read(buffer)
		now := time.Now()
		c.Silent, said = max(c.Silent, now.Sub(said).Seconds()), now
		tail = append(tail, buffer[:n]...)
		tail = tail[max(0, len(tail)-2000):]
		if err != nil { // the child has closed the terminal
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return c, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, tail)
	}
	c.Seconds = time.Since(begun).Seconds()
	c.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	c.Peak = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	return c, nil
}

// cells holds the measured cells, the last of each.
type cells map[key]cell

func load(path string) (cells, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cells{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	done := cells{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c cell
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		done[c.key] = c
	}
	return done, nil
}

func (done cells) has(k key) bool { _, is := done[k]; return is }

func (done cells) add(path string, c cell) (err error) {
	done[c.key] = c
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return json.NewEncoder(f).Encode(c)
}

// exponent returns the power of the size by which a figure grows from the middle size to the largest. NaN means not
// known.
func exponent(sizes [3]int, middle, largest float64) float64 {
	return math.Log(largest/middle) / math.Log(float64(sizes[2])/float64(sizes[1]))
}

// print writes the table: each row's three sizes, and the exponents between the last two.
func (done cells) print(to io.Writer, only string) error {
	w := tabwriter.NewWriter(to, 1, 1, 1, ' ', 0)
	fmt.Fprintln(w, "| what\t| size\t| processor, s\t| n\t| peak, MiB\t| n\t| without a word, s\t| beside, s of processor\t| why\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows() {
		if !strings.Contains(r.name, only) {
			continue
		}
		columns := func(of func(cell) float64, digits int) (texts []string, n string) {
			var all [3]float64
			for i, size := range r.sizes {
				all[i] = math.NaN()
				texts = append(texts, "–")
				if c, is := done[key{r.name, size}]; is && of(c) > 0 {
					all[i], texts[i] = of(c), fmt.Sprintf("%.*f", digits, of(c))
				}
			}
			if n = "–"; !math.IsNaN(all[1] * all[2]) {
				n = fmt.Sprintf("%.2f", exponent(r.sizes, all[1], all[2]))
			}
			return texts, n
		}
		cpu, nCPU := columns(func(c cell) float64 { return c.CPU }, 2)
		peak, nPeak := columns(func(c cell) float64 { return c.Peak }, 0)
		silent, _ := columns(func(c cell) float64 { return c.Silent }, 1)
		reference, _ := columns(func(c cell) float64 { return c.BesideCPU }, 2)
		if !slices.ContainsFunc(reference, func(text string) bool { return text != "–" }) {
			reference = nil
		}
		three := func(texts []string) string { return strings.Join(texts, " / ") }
		fmt.Fprintf(w, "| %s\t| %d / %d / %d %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n", r.name, r.sizes[0], r.sizes[1], r.sizes[2],
			r.unit,
			three(cpu), nCPU, three(peak), nPeak, three(silent), three(reference), r.why)
	}
	return w.Flush()
}
