// Signed checkpoints in a folder, beside the ConfigMap: a volume of another administrator, or a bucket that is mounted. A file a
// day, a line a checkpoint, each with the key that signed it: `sekisho audit verify --checkpoint` reads them. Lines are appended
// and never changed.
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckpointKeys, signingKeyId } from '../../../identity/oidc/audit-checkpoint.ts'

/** Keeps a statement; resolves when the disk has it. */
export type KeepCheckpoint = (statement: string, published: CheckpointKeys, at: Date) => Promise<void>

export function createCheckpointFolder(folder: string): KeepCheckpoint {
  return async (checkpoint, { keys }, at) => {
    const signer = signingKeyId(checkpoint)
    const key = keys.find(({ kid }) => kid === signer)
    await mkdir(folder, { recursive: true })
    const file = await open(join(folder, `checkpoints-${at.toISOString().slice(0, 10)}.jsonl`), 'a', 0o640)
    try {
      await file.appendFile(`${JSON.stringify({ checkpoint, key })}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
