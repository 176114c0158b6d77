// Header blocks of the tar format (POSIX.1-2001 pax interchange format, IEEE Std 1003.1 "pax"): ustar where the names fit,
// otherwise preceded by a pax record block. The same entry always gives the same bytes on every machine. A file capability is
// an extended attribute in the record that GNU tar, Go's archive/tar and containerd use.
import { type FileCapability, fileCapabilities, type TreeEntry } from './tree-entry.ts'

export const blockSize = 512

/** 1980-01-01T00:00:01Z: the time that Cloud Native Buildpacks use for every file, so that equal content gives an equal layer. */
const fixedTime = 315_532_801

const typeFlags = { file: '0', link: '2', folder: '5', pax: 'x' } as const

export function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`
}

type Fields = {
  readonly name: Buffer
  readonly linkName: Buffer
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly type: string
}

function block(fields: Fields): Buffer {
  const header = Buffer.alloc(blockSize)
  fields.name.copy(header, 0, 0, 100)
  header.write(octal(fields.mode, 8), 100, 'latin1')
  header.write(octal(fields.uid, 8), 108, 'latin1')
  header.write(octal(fields.gid, 8), 116, 'latin1')
  header.write(octal(fields.size, 12), 124, 'latin1')
  header.write(octal(fixedTime, 12), 136, 'latin1')
  header.fill(' ', 148, 156)
  header.write(fields.type, 156, 'latin1')
  fields.linkName.copy(header, 157, 0, 100)
  header.write('ustar\0', 257, 'latin1')
  header.write('00', 263, 'latin1')
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** One pax record. Its decimal length includes itself, so it is found by iteration. */
function record(key: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')])
  let length = rest.length + 1
  while (rest.length + String(length).length !== length) length++
  return Buffer.concat([Buffer.from(String(length)), rest])
}

const capabilityRecord = 'SCHILY.xattr.security.capability'

/** `struct vfs_cap_data` of revision 2 with the effective bit (Linux, include/uapi/linux/capability.h). */
function capabilityAttribute(name: FileCapability): Buffer {
  const attribute = Buffer.alloc(20)
  attribute.writeUInt32LE(0x02000001, 0)
  attribute.writeUInt32LE(1 << fileCapabilities[name], 4)
  return attribute
}

/** All header blocks that precede an entry's content. */
export function tarHeader(entry: TreeEntry): Buffer {
  const name = Buffer.from(entry.kind === 'folder' ? `${entry.path}/` : entry.path)
  const linkName = Buffer.from(entry.kind === 'link' ? entry.target : '')
  const records: Buffer[] = []
  if (name.length > 100) records.push(record('path', name.toString()))
  if (linkName.length > 100) records.push(record('linkpath', linkName.toString()))
  if (entry.kind === 'file' && entry.capability !== undefined)
    records.push(record(capabilityRecord, capabilityAttribute(entry.capability)))
  const size = entry.kind === 'file' ? sourceSize(entry) : 0
  const header = block({ name, linkName, mode: entry.mode, uid: entry.uid, gid: entry.gid, size, type: typeFlags[entry.kind] })
  if (records.length === 0) return header
  const pax = Buffer.concat(records)
  const paxHeader = block({
    name: Buffer.from('pax'),
    linkName: Buffer.alloc(0),
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: pax.length,
    type: typeFlags.pax,
  })
  return Buffer.concat([paxHeader, pax, Buffer.alloc(padding(pax.length)), header])
}

export function sourceSize(entry: Extract<TreeEntry, { kind: 'file' }>): number {
  return entry.source.kind === 'bytes' ? entry.source.bytes.length : entry.source.size
}
