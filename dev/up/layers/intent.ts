// What is switched off, on disk before it is, so that whatever ends the run, the next one or `make up` finds it.
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '../../../src/lib/json/json-value.ts'
import type { Kept } from './layer.ts'
import { type LayerName, layerNames } from './list.ts'

export type Intent = { readonly layer: LayerName; readonly kept: readonly Kept[] }

function fileIn(stateFolder: string): string {
  return join(stateFolder, 'layer-off.json')
}

/** Rejects when it cannot be written: then nothing may be switched off. */
export async function writeIntent(stateFolder: string, intent: Intent): Promise<void> {
  const file = fileIn(stateFolder)
  await mkdir(stateFolder, { recursive: true })
  const written = await open(`${file}.new`, 'w')
  try {
    await written.writeFile(JSON.stringify(intent))
    await written.sync()
  } finally {
    await written.close()
  }
  await rename(`${file}.new`, file)
  await syncFolder(stateFolder)
}

/** Otherwise a machine that loses power may forget the name of the file. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Undefined when nothing is switched off; `unreadable`: something may be, and nobody knows what. */
export async function readIntent(stateFolder: string): Promise<Intent | 'unreadable' | undefined> {
  try {
    return intentIn(await readFile(fileIn(stateFolder), 'utf8')) ?? 'unreadable'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    if (error instanceof SyntaxError) return 'unreadable'
    throw error
  }
}

function intentIn(text: string): Intent | undefined {
  const value: unknown = JSON.parse(text)
  if (!isJsonObject(value)) return undefined
  const { layer, kept } = value
  return layerNames.some(name => name === layer) && Array.isArray(kept) ? (value as Intent) : undefined
}

export async function forgetIntent(stateFolder: string): Promise<void> {
  await rm(fileIn(stateFolder), { force: true })
}
