package scratch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"filewise/internal/process"
)

// writeSynced makes a new file that is on the storage when it returns.
func writeSynced(path string, b []byte) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// unfinishedName names its writer, so that others know whether it still writes.
func unfinishedName(id string, writer process.Identity) string {
	return fmt.Sprintf("%s-%d-%d.new", id, writer.PID, writer.Start)
}

// unfinished reads the writer out of such a name, taken for one of this boot.
func unfinished(name string) (process.Identity, bool) {
	rest, ok := strings.CutSuffix(name, ".new")
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 || !validID(parts[0]) {
		return process.Identity{}, false
	}
	pid, err1 := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseUint(parts[2], 10, 64)
	writer, err3 := process.Self()
	if errors.Join(err1, err2, err3) != nil || pid <= 0 {
		return process.Identity{}, false
	}
	writer.PID, writer.Start = pid, start
	return writer, true
}
