// Downloads a published program and accepts it only when its SHA-256 is the publisher's.
// Fails quickly where the publisher cannot be reached; the caller then builds from source.
import { createHash } from 'node:crypto'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AppError, messageOf } from '../../../src/lib/errors.ts'
import { runCommand } from '../run-command.ts'
import type { CatalogEntry, Download } from './catalog.ts'
import { programsOf } from './catalog.ts'

const reachableMilliseconds = 3000
const wholeMilliseconds = 300_000
const maxBytes = 300 * 1024 * 1024

function fill(template: string, architecture: string, program: string): string {
  return template.replaceAll('{arch}', architecture).replaceAll('{program}', program)
}

/** The SHA-256 for `file` in a checksum file: a bare digest, or lines of `digest  name`. */
export function checksumFor(text: string, file: string): string | undefined {
  for (const line of text.split('\n')) {
    const [digest = '', name] = line.trim().split(/\s+\*?/)
    if (/^[0-9a-f]{64}$/.test(digest) && (name === undefined || basename(name) === file)) return digest
  }
  return undefined
}

/** fetch reports only "fetch failed"; the useful reason is in its cause. */
async function reach(url: string, milliseconds: number): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(milliseconds) }).catch((error: unknown) => {
    const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error)
    throw new AppError('upstream_failed', `${new URL(url).host} cannot be reached: ${reason}`, { cause: error })
  })
  if (!response.ok) throw new AppError('upstream_failed', `${url} answered ${response.status}`)
  return response
}

async function fetchChecked(url: string, checksumUrl: string): Promise<Buffer> {
  const sums = await reach(checksumUrl, reachableMilliseconds)
  const wanted = checksumFor(await sums.text(), basename(url))
  if (wanted === undefined) throw new AppError('integrity_violation', `${checksumUrl} contains no SHA-256 of ${basename(url)}`)
  const response = await reach(url, wholeMilliseconds)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes)
    throw new AppError('payload_too_large', `${url} is too large`)
  const body = Buffer.from(await response.arrayBuffer())
  const actual = createHash('sha256').update(body).digest('hex')
  if (actual !== wanted) throw new AppError('integrity_violation', `${url} has SHA-256 ${actual}; the publisher's is ${wanted}`)
  return body
}

/** Downloads every program of an entry into `folder`; leaves nothing there when one fails. */
export async function downloadPrograms(
  entry: CatalogEntry,
  download: Download,
  folder: string,
  architecture: string,
): Promise<void> {
  const incoming = `${folder}.download`
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })
  try {
    for (const program of programsOf(entry)) {
      const body = await fetchChecked(
        fill(download.url, architecture, program),
        fill(download.checksumUrl, architecture, program),
      )
      const target = join(incoming, program)
      if (download.memberOf === undefined) await writeFile(target, body)
      else {
        const archive = join(incoming, 'archive.tar.gz')
        const member = fill(download.memberOf, architecture, program)
        await writeFile(archive, body)
        await runCommand('tar', ['-xzf', archive, '-C', incoming, member])
        if (join(incoming, member) !== target) await rename(join(incoming, member), target)
        await rm(archive)
      }
      await chmod(target, 0o755)
    }
    await rm(folder, { recursive: true, force: true })
    await rename(incoming, folder)
  } catch (error) {
    await rm(incoming, { recursive: true, force: true })
    throw error
  }
}
