package server

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"filewise"
	"filewise/machine"
)

// MakeDirs makes the directories of a build, for its owner alone. What exists
// already is another's: then the ones that were made are removed again.
func MakeDirs(dirs ...string) error {
	for n, dir := range dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return errors.Join(filewise.Errorf(filewise.CodePreflight, "", "directory of a build: %w", err), removeAll(dirs[:n]))
		}
	}
	return nil
}

// RemoveDirs removes the directories of a build whose server has ended, their
// snapshots, and what is beside them with one of the suffixes.
func RemoveDirs(dirs []string, suffixes ...string) error {
	all := dirs[:len(dirs):len(dirs)]
	for _, dir := range dirs {
		for _, suffix := range append(suffixes, snapshotSuffix) {
			all = append(all, dir+suffix)
		}
	}
	return removeAll(all)
}

func removeAll(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("removing a build: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Environment is all that a server sees of Filewise's environment, with what is set.
// The scratch directories in it are the mark by which a later sweep knows an orphan.
func Environment(dirs []string, set ...string) []string {
	return append(machine.Environment(set...), "FILEWISE_SCRATCH="+strings.Join(dirs, ":"))
}
