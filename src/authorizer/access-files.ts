// The two files of the administrator, read again at an interval: a right that is taken counts within a second on every replica.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { pollFiles } from '../web/poll-files.ts'
import { type Access, accessOf } from './named-subjects.ts'

/** A ConfigMap has at most 1 MB; what is longer was not meant. */
const maxBytes = 256 * 1024
const intervalMilliseconds = 250

export type AccessFiles = {
  readonly current: () => Access
  readonly stop: () => void
}

type Texts = { readonly readers: string; readonly namespaces: string }

// Memory (names of the authorizer): who reads, and where Secrets may be listed, as the files said last
//   life: the process
//   bound: two files of at most 256 KB
//   freshness: 250 ms after the kubelet's update; of files that cannot be used the last usable ones
//   replicas: each reads
/**
 * The files `readers` and `namespaces` of the folder; one that does not exist names nobody. Throws `invalid_configuration` when
 * they cannot be used at the start. Later the last usable ones stay, and the log says so.
 */
export function accessFromFiles(folder: string, { log }: { readonly log: Log }): AccessFiles {
  let texts = readTexts(folder)
  let access = accessOf(texts)
  const takeOver = (): boolean => {
    const next = readTexts(folder)
    if (next.readers === texts.readers && next.namespaces === texts.namespaces) return false
    access = accessOf(next)
    texts = next
    log.info({ folder }, 'named subjects reloaded')
    return true
  }
  const failed = (error: string): void =>
    log.error({ folder, error }, 'failed to reload the named subjects: the former ones stay')
  const { stop } = pollFiles({ takeOver, failed, intervalMilliseconds })
  return { current: () => access, stop }
}

function readTexts(folder: string): Texts {
  return { readers: readText(join(folder, 'readers')), namespaces: readText(join(folder, 'namespaces')) }
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path)
    if (bytes.length <= maxBytes) return bytes.toString('utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return ''
    throw new AppError('invalid_configuration', `failed to read ${path}: ${messageOf(cause)}`, { cause })
  }
  throw new AppError('invalid_configuration', `${path} has more than ${maxBytes} bytes: name groups`)
}
