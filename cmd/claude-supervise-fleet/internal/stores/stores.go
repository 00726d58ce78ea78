// Package stores has the blob stores in it that a fleet can have, by the scheme of their URL. Only the programs import
// it: together they are as big as all else in those, Google's alone 20 MB, S3 9 MB, Azure 3 MB.
package stores

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
