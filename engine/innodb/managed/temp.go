package managed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// leastTemp is the minimum size of InnoDB's temporary tablespace, from the server's own message: "The innodb_temporary
// data file size must be at least 12 MB".
const leastTemp = 12 * dialect.MiB

// temp lays out the temporary tablespace: files of equal size. The last one can grow, like the last data file.
func (d *design) temp() error {
	s := d.Layout.Temp
	if !d.Program.Table().Temporary {
		return nil
	}
	if err := checkTemp(d.Product); err != nil || s.Files == 0 {
		return err
	}
	if s.Files < 0 || s.Files > dialect.MaxSystemFiles {
		_, err := dialect.FormatDataFiles(make([]dialect.DataFile, max(s.Files, 0)))
		return err
	}
	if _, set := setting(d.Target, "innodb_temp_data_file_path"); set {
		return filewise.Errorf(filewise.CodeUsage, "leave it out, and give --files and --size",
			"--set innodb_temp_data_file_path: the layouts of scenario temp differ in it")
	}
	if least := max(leastTemp, int64(s.Files)*dialect.MiB); s.Bytes < least {
		return filewise.Errorf(filewise.CodeUsage, "use --size "+sizeArg(least)+" or more",
			"a temporary tablespace of %d bytes in %s: InnoDB needs at least %s: %w",
			s.Bytes, filewise.FilesName(s.Files), sizeArg(least), filewise.ErrUnsupported)
	}
	for i, size := range s.Sizes(dialect.MiB) {
		at := d.data[0]
		if s.Placement == filewise.PlaceRoundRobin {
			at = d.data[i%len(d.data)]
		}
		d.temps = append(d.temps, dialect.File{Grows: i == s.Files-1, File: filewise.File{Role: filewise.RoleTemp, Volume: at.volume,
			Path: filepath.Join(at.dir, fmt.Sprintf("ibtmp%04d", i+1)), Bytes: size}})
	}
	d.Warn("temp-files", "check what each file was used for: a small --size, or more --rows, reaches the later ones",
		"InnoDB fills the files of its temporary tablespace one after the other, and keeps in its buffer pool what fits there; sorts that "+
			"spill go to tmpdir, not there")
	_, err := dialect.FormatDataFiles(dataFiles(d.temps))
	return err
}

// checkTemp returns an error if the product's temporary files cannot be varied.
func checkTemp(product *dialect.Product) error {
	if product.NoTemp == "" {
		return nil
	}
	return refuse(filewise.TempElsewhere, "%s", product.NoTemp)
}

// tempPool returns the buffer pool of workload temp, in bytes. It is so small that temporary tables are written.
func (d *design) tempPool() int64 {
	return max(d.Layout.Temp.Bytes/4/dialect.MiB*dialect.MiB, leastTempPool)
}

const leastTempPool = 8 * dialect.MiB

// foundTemps returns the temporary files that the server has open. The server creates them again, full of zeros, at
// every start. So the used part of a file is the pages that were ever written.
func (d *design) foundTemps(open map[string]bool) ([]filewise.File, error) {
	var all []filewise.File
	for _, f := range d.temps {
		found, err := server.Stat(filewise.RoleTemp, f.Volume, f.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
		}
		if err := verify(f, found, true, open); err != nil {
			return nil, err
		}
		used, err := written(f.Path, d.Page)
		if err != nil {
			return nil, err
		}
		found.Used, found.Grew = &used, found.Bytes-f.Bytes
		all = append(all, found)
	}
	return all, nil
}

// written returns how many bytes of a file are in pages that are not all zeros.
func written(path string, pageSize int64) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("what is used of a temporary file: %w", err)
	}
	defer f.Close()
	page, zeros, used := make([]byte, pageSize), make([]byte, pageSize), int64(0)
	for {
		n, err := io.ReadFull(f, page)
		if !bytes.Equal(page[:n], zeros[:n]) {
			used += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return used, nil
		case err != nil:
			return 0, fmt.Errorf("what is used of %s: %w", path, err)
		}
	}
}
