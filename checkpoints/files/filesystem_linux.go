package files

import "golang.org/x/sys/unix"

// networkFileSystems are the file systems of other machines, by the magic number of statfs(2).
// 9p and FUSE are not among them: sandboxes and virtual machines mount their local disks that way.
var networkFileSystems = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "nfs",
	unix.SMB_SUPER_MAGIC:   "smb",
	unix.SMB2_SUPER_MAGIC:  "smb2",
	unix.CIFS_SUPER_MAGIC:  "cifs",
	unix.AFS_SUPER_MAGIC:   "afs",
	unix.AFS_FS_MAGIC:      "afs",
	unix.CODA_SUPER_MAGIC:  "coda",
	unix.NCP_SUPER_MAGIC:   "ncp",
	unix.CEPH_SUPER_MAGIC:  "ceph",
	unix.OCFS2_SUPER_MAGIC: "ocfs2",
	0x0bd00bd0:             "lustre",
	0x47504653:             "gpfs",
	0x19830326:             "beegfs",
}

// NetworkFS names the network file system that holds path; empty for a local one.
func NetworkFS(path string) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return "", err
	}
	return networkFileSystems[int64(uint32(stat.Type))], nil // 32 bits of magic, sign-extended on some machines
}
