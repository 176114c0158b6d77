// Which process listens on a TCP port of this machine, for error messages.
// Reads /proc only (proc_pid_net(5)); of another user's process only the port is known.
import { readdir, readFile, readlink } from 'node:fs/promises'

export type PortHolder = {
  /** Absent when the process belongs to another user, or has ended meanwhile. */
  readonly process?: { readonly pid: number; readonly executable: string; readonly folder: string }
}

const listening = '0A'

/** Inodes of the sockets that listen on the port, from the text of /proc/net/tcp or tcp6. */
export function listenersIn(table: string, port: number): readonly string[] {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, '0')
  return table
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === listening && local?.endsWith(`:${hexadecimal}`))
    .flatMap(fields => fields[9] ?? [])
}

function absent(): undefined {
  return undefined
}

/** The process on the port, whatever its address; undefined when no process listens. */
export async function portHolder(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const sockets = new Set(tables.flatMap(table => listenersIn(table, port)).map(inode => `socket:[${inode}]`))
  if (sockets.size === 0) return undefined
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  for (const pid of pids) if (await hasOneOf(pid, sockets)) return withProcess(pid)
  return {}
}

async function hasOneOf(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const targets = await Promise.all(names.map(name => readlink(`${folder}/${name}`).catch(absent)))
  return targets.some(target => target !== undefined && sockets.has(target))
}

async function withProcess(pid: number): Promise<PortHolder> {
  const [executable, folder] = await Promise.all(['exe', 'cwd'].map(name => readlink(`/proc/${pid}/${name}`).catch(absent)))
  return executable === undefined || folder === undefined ? {} : { process: { pid, executable, folder } }
}
