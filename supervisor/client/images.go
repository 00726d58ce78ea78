package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/images"
)

// A Picture is an image that a person gives with an answer.
type Picture struct {
	Name string // of its file, for people
	Data []byte
}

// ReadPicture reads the image of a file of the person's own, which is to be a plain file. The error says why it is none
// that an agent can be shown.
func ReadPicture(path string) (Picture, error) {
	data, err := readPlain(path, 0)
	if err == nil {
		_, err = images.Check(data)
	}
	if err != nil {
		return Picture{}, fmt.Errorf("the image %s: %w", path, err)
	}
	return Picture{filepath.Base(path), data}, nil
}

// readPlain reads a plain file that is no larger than an image may be, without being held up by one that is none.
func readPlain(path string, flags int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no plain file")
	case info.Size() > images.MaxBytes:
		return nil, images.TooLarge(info.Size())
	}
	return io.ReadAll(io.LimitReader(f, images.MaxBytes+1))
}

// ReadImage reads an image that was kept, and what it is. The error says that it is gone, or is another.
func ReadImage(path, hash string) ([]byte, images.Info, error) {
	data, err := readPlain(path, unix.O_NOFOLLOW)
	if err != nil {
		return nil, images.Info{}, err
	}
	if images.Hash(data) != hash {
		return nil, images.Info{}, fmt.Errorf("%s is another image", path)
	}
	info, err := images.Check(data)
	return data, info, err
}

// An ImagesRefusal says why an answer can have no images. Nothing of it was kept.
type ImagesRefusal struct{ Question, Reason string }

func (e *ImagesRefusal) Error() string {
	return fmt.Sprintf("question %s takes no image: %s; nothing was kept", e.Question, e.Reason)
}

func (c Client) takesImages(ctx context.Context, q *supervisor.Question) error {
	var abilities procs.Abilities
	if q.Run != "" {
		record, err := c.Store.Run(ctx, q.Run)
		if err != nil {
			return err
		}
		var config conf.Config
		if err := json.Unmarshal(record.Config, &config); err != nil {
			return fmt.Errorf("the configuration of %s: %w", q.Run, err)
		}
		abilities = config.Abilities()
	}
	if why := ask.TakesImages(q, abilities); why != "" {
		return &ImagesRefusal{q.ID, why}
	}
	return nil
}

// UnfitImages says why images cannot be given with an answer. Nothing of it was kept.
type UnfitImages struct{ Err error }

func (e *UnfitImages) Error() string { return e.Err.Error() }

func (e *UnfitImages) Unwrap() error { return e.Err }

// keepImages keeps the images of an answer in the folder of its run, on the disk when this returns. Nothing is kept if
// one of them is none.
func (c Client) keepImages(ctx context.Context, q *supervisor.Question, a Answer) ([]checkpoints.Image, error) {
	pictures := a.Images
	if len(pictures) == 0 {
		return nil, nil
	}
	if a.Skip || a.Decline || a.AllLike {
		return nil, &UnfitImages{errors.New(
			"images belong to one answer: they go with none to skip, to decline, or for all that is alike")}
	}
	if err := c.takesImages(ctx, q); err != nil {
		return nil, err
	}
	kept, err := checkImages(pictures)
	if err != nil {
		return nil, &UnfitImages{err}
	}
	for i, k := range kept {
		if err := putImage(c.Dirs.RunFile(q.Run, k.File(q.Agent)), k.Hash, pictures[i].Data); err != nil {
			return nil, fmt.Errorf("the image %s cannot be kept: %w", k.Name, err)
		}
	}
	return kept, nil
}

// KeepImage keeps an image that an agent shows in the folder of its run, on the disk when this returns. The error says
// why it is none, or cannot be kept.
func KeepImage(dirs checkpoints.Dirs, run, agent string, p Picture) (checkpoints.Image, error) {
	k, err := checkImage(p)
	if err != nil {
		return k, err
	}
	if err := putImage(dirs.RunFile(run, k.File(agent)), k.Hash, p.Data); err != nil {
		return k, fmt.Errorf("it cannot be kept: %w", err)
	}
	return k, nil
}

func putImage(path, hash string, data []byte) error {
	if _, _, err := ReadImage(path, hash); err == nil {
		return nil // it was kept before
	}
	return files.ReplacePrivate(path, data)
}

func checkImage(p Picture) (checkpoints.Image, error) {
	info, err := images.Check(p.Data)
	return checkpoints.Image{Hash: images.Hash(p.Data), Name: p.Name, Type: info.Type, Width: info.Width,
		Height: info.Height, Bytes: len(p.Data)}, err
}

// checkImages returns what the images of an answer are.
func checkImages(pictures []Picture) (kept []checkpoints.Image, err error) {
	if len(pictures) > images.MaxMany {
		return nil, fmt.Errorf("an answer has %d images at most, and these are %d", images.MaxMany, len(pictures))
	}
	sum := 0
	for _, p := range pictures {
		k, err := checkImage(p)
		if err != nil {
			return nil, fmt.Errorf("the image %s: %w", p.Name, err)
		}
		sum += len(p.Data)
		kept = append(kept, k)
	}
	if sum > images.MaxSum {
		return nil, fmt.Errorf("the images of an answer have %d MB together at most, and these have %.1f",
			images.MaxSum/1_000_000, float64(sum)/1e6)
	}
	return kept, nil
}
