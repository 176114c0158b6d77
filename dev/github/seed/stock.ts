// Where the slow parts of a first state come from, keys and repositories: made anew, or taken from a folder that all emulators
// of the tests share.
import { createHash, generateKeyPair, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { GitStore } from '../git/store.ts'
import { commitFiles, type FileCommit } from '../git/write.ts'

export type Stock = {
  /** A 2048-bit RSA key in PEM (PKCS #1), as GitHub issues. */
  readonly privateKey: (name: string) => Promise<string>
  /** Makes the repository with this one commit. */
  readonly repository: (git: GitStore, id: number, commit: FileCommit) => Promise<void>
}

const generate = promisify(generateKeyPair)

export const freshStock: Stock = {
  async privateKey() {
    const format = { type: 'pkcs1', format: 'pem' } as const
    return (await generate('rsa', { modulusLength: 2048, publicKeyEncoding: format, privateKeyEncoding: format })).privateKey
  },
  async repository(git, id, commit) {
    await git.create(id, commit.branch)
    await commitFiles(git, id, commit)
  },
}

/** Older than every repository by every clock of a test. */
const commitsAt = Date.UTC(2020, 0)

/**
 * The same key for a name and the same repository for a content, for all who share the folder. What is missing is made and
 * becomes part of the folder by one rename, so that several processes may use it at once and one that is killed leaves nothing
 * half done. The commits are of the year 2020.
 */
export function sharedStock(folder: string): Stock {
  /** The path of a folder of the stock, which `make` fills when there is none. */
  const ensured = async (name: string, make: (place: string) => Promise<void>): Promise<string> => {
    const wanted = join(folder, name)
    if (existsSync(wanted)) return wanted
    const made = join(folder, `.${randomUUID()}`)
    await mkdir(made, { recursive: true, mode: 0o700 })
    await make(made)
    await rename(made, wanted).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      await rm(made, { recursive: true }) // another process was faster
    })
    return wanted
  }
  return {
    async privateKey(name) {
      const place = await ensured(`key-${name}`, async made =>
        writeFile(join(made, 'private-key.pem'), await freshStock.privateKey(name), { mode: 0o600 }),
      )
      return readFile(join(place, 'private-key.pem'), 'utf8')
    },
    async repository(git, id, commit) {
      const ofStock = { ...commit, at: commitsAt }
      const name = createHash('sha256').update(JSON.stringify(ofStock)).digest('hex').slice(0, 32)
      const place = await ensured(`${name}.git`, async made => {
        await freshStock.repository(git, id, ofStock)
        await cp(git.pathOf(id), made, { recursive: true })
      })
      await rm(git.pathOf(id), { recursive: true, force: true })
      await cp(place, git.pathOf(id), { recursive: true })
    },
  }
}
