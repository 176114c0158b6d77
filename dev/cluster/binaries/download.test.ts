// A download is accepted only with the publisher's checksum, and leaves nothing behind when it fails.
// The publisher is a server on loopback.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defined } from '../../../src/lib/json/defined.ts'
import { runCommand } from '../run-command.ts'
import type { CatalogEntry } from './catalog.ts'
import { checksumFor, downloadPrograms } from './download.ts'

const files = new Map<string, Buffer>()
const server = createServer((request, response) => {
  const body = files.get(request.url ?? '')
  response.writeHead(body === undefined ? 404 : 200).end(body)
})
let folder: string
let base: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'download-'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  base = `http://127.0.0.1:${address.port}`
})

afterEach(async () => {
  files.clear()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  await rm(folder, { recursive: true })
})

function sha(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function entryWith(memberOf?: string): CatalogEntry {
  const download = {
    url: `${base}/{arch}/{program}`,
    checksumUrl: `${base}/sums`,
    ...defined({ memberOf }),
  }
  return {
    name: 'x',
    version: '1',
    module: 'x',
    builds: { tool: '.' },
    links: {},
    ldflags: [],
    tags: [],
    download,
    coldBuild: '',
  }
}

function download(entry: CatalogEntry): Promise<void> {
  if (entry.download === undefined) throw new Error('entry without download')
  return downloadPrograms(entry, entry.download, join(folder, 'out'), 'amd64')
}

describe('downloadPrograms', () => {
  test('places an executable whose checksum is right', async () => {
    const content = Buffer.from('program')
    files.set('/amd64/tool', content).set('/sums', Buffer.from(`${'0'.repeat(64)}  other\n${sha(content)}  tool\n`))
    await download(entryWith())
    expect(await readFile(join(folder, 'out', 'tool'), 'utf8')).toBe('program')
    expect((await stat(join(folder, 'out', 'tool'))).mode & 0o111).toBe(0o111)
  })

  test('extracts one member of an archive', async () => {
    await runCommand('sh', ['-c', 'mkdir in && printf member > in/tool && tar -czf archive in'], { folder })
    const archive = await readFile(join(folder, 'archive'))
    files.set('/amd64/tool', archive).set('/sums', Buffer.from(sha(archive)))
    await download(entryWith('in/{program}'))
    expect(await readFile(join(folder, 'out', 'tool'), 'utf8')).toBe('member')
  })

  test.each([
    ['a wrong checksum', 'f'.repeat(64), /SHA-256/],
    ['no checksum for the file', `${'f'.repeat(64)}  other`, /no SHA-256 of tool/],
  ])('refuses %s and leaves nothing', async (_what, sums, message) => {
    files.set('/amd64/tool', Buffer.from('program')).set('/sums', Buffer.from(sums))
    await expect(download(entryWith())).rejects.toThrow(message)
    expect(await readdir(folder)).toEqual([])
  })

  test('names the address that answered with an error', async () => {
    await expect(download(entryWith())).rejects.toThrow('/sums answered 404')
  })
})

test('checksumFor reads bare digests, plain and binary lists', () => {
  const digest = 'a'.repeat(64)
  expect(checksumFor(digest, 'x')).toBe(digest)
  expect(checksumFor(`${digest} *dist/x`, 'x')).toBe(digest)
  expect(checksumFor(`${digest}  y`, 'x')).toBeUndefined()
  expect(checksumFor('not a digest  x', 'x')).toBeUndefined()
})
