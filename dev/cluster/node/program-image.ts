// Images of one static program and nothing else, built here and imported into the runtime: the sandbox container of every pod
// and the cluster's name server. They do not come from a registry, because no registry may be in reach and the local one must
// not be needed for DNS.
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { goArchitecture } from '../binaries/ensure-binary.ts'
import { runCommand } from '../run-command.ts'
import { importedImages, type NodeContext } from './layout.ts'
import { ctr } from './runtime/containerd.ts'

const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']

export type ProgramImage = { readonly name: string; readonly archive: string }

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Builds the archive (OCI image layout, image-spec v1) below the cluster's folder; its name is derived from the content. */
export async function buildProgramImage(name: string, program: string, folder: string): Promise<ProgramImage> {
  const work = join(folder, `${name}-image`)
  const blobs = join(work, 'layout', 'blobs', 'sha256')
  await rm(work, { recursive: true, force: true })
  await mkdir(blobs, { recursive: true })
  await mkdir(join(work, 'root'))
  await copyFile(program, join(work, 'root', name))
  await runCommand('tar', [...reproducible, '-cf', join(work, 'layer.tar'), '-C', join(work, 'root'), name])
  const put = async (content: string | Buffer, mediaType: string) => {
    const digest = digestOf(content)
    await writeFile(join(blobs, digest), content)
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(content) }
  }
  const platform = { architecture: goArchitecture(), os: 'linux' }
  const layer = await put(await readFile(join(work, 'layer.tar')), 'application/vnd.oci.image.layer.v1.tar')
  const settings = { ...platform, config: { Entrypoint: [`/${name}`] }, rootfs: { type: 'layers', diff_ids: [layer.digest] } }
  const config = await put(JSON.stringify(settings), 'application/vnd.oci.image.config.v1+json')
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = await put(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] }), mediaType)
  const reference = `${importedImages}/${name}:${manifest.digest.slice(7, 19)}`
  const annotations = { 'io.containerd.image.name': reference }
  await writeFile(
    join(work, 'layout', 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, platform, annotations }] }),
  )
  await writeFile(join(work, 'layout', 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  const archive = join(folder, `${name}.tar`)
  await runCommand('tar', [...reproducible, '-cf', archive, '-C', join(work, 'layout'), '.'])
  await rm(work, { recursive: true })
  return { name: reference, archive }
}

export async function importProgramImage(context: NodeContext, image: ProgramImage): Promise<void> {
  const present = await ctr(context, ['images', 'list', '--quiet', `name==${image.name}`])
  if (present.code === 0 && present.output.trim() === image.name) return
  const imported = await ctr(context, ['images', 'import', image.archive])
  if (imported.code !== 0)
    throw new AppError('internal', `the image ${image.name} cannot be imported: ${imported.errorOutput.trim()}`)
}
