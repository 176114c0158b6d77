// What is switched off, on disk before it is, so that whatever ends the run, the next one or `make up` finds it.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kept } from './layer.ts'
import type { LayerName } from './list.ts'

export type Intent = { readonly layer: LayerName; readonly kept: readonly Kept[] }

function fileIn(stateFolder: string): string {
  return join(stateFolder, 'layer-off.json')
}

/** Rejects when it cannot be written: then nothing may be switched off. */
export async function writeIntent(stateFolder: string, intent: Intent): Promise<void> {
  const file = fileIn(stateFolder)
  await mkdir(stateFolder, { recursive: true })
  await writeFile(`${file}.new`, JSON.stringify(intent))
  await rename(`${file}.new`, file)
}

/** Undefined when nothing is switched off. */
export async function readIntent(stateFolder: string): Promise<Intent | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(stateFolder), 'utf8')) as Intent
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

export async function forgetIntent(stateFolder: string): Promise<void> {
  await rm(fileIn(stateFolder), { force: true })
}
