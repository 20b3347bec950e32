package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/host/machine"
)

// Package is the Debian package that contains fio.
const Package = "fio"

// Duration and size of one measurement: enough for a steady figure on a disk, and short enough to run before a run.
const (
	runtime    = time.Second
	fileBytes  = 64 << 20 // sum of all files of a volume
	large      = 1 << 20  // size of a sequential request
	depth      = 16       // requests at a time
	answer     = 60 * time.Second
	spareBytes = 4 * fileBytes
	mostFiles  = 16
)

// Program returns the path of fio, or the reason why it is not available.
func Program() (path, why string) {
	if goruntime.GOOS == "windows" {
		return "", "fio is not used on Windows (DiskSpd, from Microsoft, measures the storage)"
	}
	path, err := exec.LookPath("fio")
	if err != nil {
		return "", "fio is not installed (" + machine.Install(Package) + ")"
	}
	return path, ""
}

// job is one call of fio: a pattern that runs on all directories at the same time.
type job struct {
	pattern Pattern
	dirs    []string
	files   int
	page    int64
}

var modes = map[Pattern]string{SequentialRead: "read", SequentialWrite: "write", RandomRead: "randread", RandomWrite: "randwrite"}

// args returns the arguments for fio. Requests bypass the system's cache. Files are filled before they are read.
func (j job) args() []string {
	block := int64(large)
	if j.pattern == RandomRead || j.pattern == RandomWrite {
		block = j.page
	}
	size := max(int64(fileBytes)/int64(j.files), block) / block * block
	args := []string{
		"--output-format=json", "--direct=1", "--ioengine=libaio", "--iodepth=" + strconv.Itoa(depth), "--thread",
		"--time_based", "--runtime=" + strconv.FormatFloat(runtime.Seconds(), 'f', -1, 64), "--randrepeat=1", "--group_reporting",
		"--rw=" + modes[j.pattern], "--bs=" + strconv.FormatInt(block, 10), "--nrfiles=" + strconv.Itoa(j.files),
		"--filesize=" + strconv.FormatInt(size, 10), "--size=" + strconv.FormatInt(size*int64(j.files), 10),
	}
	for i, dir := range j.dirs {
		// fio splits directory names at colons.
		args = append(args, "--name=v"+strconv.Itoa(i), "--directory="+strings.ReplaceAll(dir, ":", `\:`))
	}
	return args
}

// run calls fio and adds up the results of its jobs.
func (j job) run(ctx context.Context, program string) (f Figure, tool string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	cmd := machine.Command(ctx, program, j.args()...)
	cmd.WaitDelay = time.Second
	tie(cmd)
	goruntime.LockOSThread() // the thread that starts fio must outlive it
	defer goruntime.UnlockOSThread()
	var said, failed strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Dir = &said, &failed, j.dirs[0]
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return f, "", fmt.Errorf("fio, %s: %w: %s", j.pattern, err, firstLine(failed.String()+said.String()))
	}
	f, tool, err = parse([]byte(said.String()), j.pattern)
	f.Files = j.files
	if len(j.dirs) > 1 {
		f.Together = len(j.dirs)
	}
	return f, tool, err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// parse parses fio's JSON. Notes may precede the JSON.
func parse(text []byte, p Pattern) (f Figure, tool string, err error) {
	type side struct {
		Bytes    float64 `json:"bw_bytes"`
		Requests float64 `json:"iops"`
	}
	var out struct {
		Version string `json:"fio version"`
		Jobs    []struct {
			Error int  `json:"error"`
			Read  side `json:"read"`
			Write side `json:"write"`
		} `json:"jobs"`
	}
	start := strings.IndexByte(string(text), '{')
	if start < 0 {
		return f, "", fmt.Errorf("fio, %s: it printed no JSON: %q", p, firstLine(string(text)))
	}
	if err := json.Unmarshal(text[start:], &out); err != nil {
		return f, "", fmt.Errorf("fio, %s: %w", p, err)
	}
	f.Pattern = p
	for _, j := range out.Jobs {
		if j.Error != 0 {
			return f, "", fmt.Errorf("fio, %s: error %d", p, j.Error)
		}
		s := j.Read
		if p == SequentialWrite || p == RandomWrite {
			s = j.Write
		}
		f.Bytes, f.Requests = f.Bytes+s.Bytes, f.Requests+s.Requests
	}
	if !(f.Bytes > 0 && f.Requests > 0) {
		return f, "", fmt.Errorf("fio, %s: nothing was done", p)
	}
	return f, out.Version, nil
}

// within creates a temporary directory in each directory, calls do with them, and removes them.
func within(dirs []string, do func([]string) error) (err error) {
	var made []string
	defer func() {
		for _, d := range made {
			err = errors.Join(err, os.RemoveAll(d))
		}
	}()
	for _, dir := range dirs {
		d, err := os.MkdirTemp(dir, "filewise-limit-")
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "give the account the right to write there", "the storage's limit: %w", err)
		}
		if d, err = filepath.Abs(d); err != nil {
			return err
		}
		made = append(made, d)
	}
	return do(made)
}
