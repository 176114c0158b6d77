// The command line of the image builder. Progress goes to standard error, the result (references) to standard output.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError, messageOf } from '../../src/lib/errors.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { buildImages, type ImageResult } from './build-images.ts'
import { writeImageArchive } from './image/image-archive.ts'
import { createImageDeps } from './image-deps.ts'
import { type ImageName, imageNames, isImageName } from './recipes/catalog.ts'

const usage = `Usage: node dev/images/main.ts build [name… | all] [--push] [--archive FOLDER] [-o json]
       node dev/images/main.ts --list
Names: ${imageNames.join(', ')}
  --push            bring the images to the cluster's registry
  --archive FOLDER  write each image as a tar for "ctr images import"
`

function chosenNames(words: readonly string[]): readonly ImageName[] {
  if (words.length === 0 || words.includes('all')) return imageNames
  return words.map(word => {
    if (!isImageName(word))
      throw new AppError('invalid_request', `there is no image ${word}; the names are ${imageNames.join(', ')}`)
    return word
  })
}

function asJson(results: readonly ImageResult[]): string {
  return JSON.stringify(
    results.map(({ image: _, ...rest }) => rest),
    null,
    2,
  )
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      push: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      archive: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'text' },
    },
  })
  const [command, ...words] = positionals
  if (values.list) return void process.stdout.write(`${imageNames.join('\n')}\n`)
  if (values.help || command !== 'build') {
    process.stderr.write(usage)
    process.exitCode = values.help ? 0 : 2
    return
  }
  if (values.output !== 'text' && values.output !== 'json') throw new AppError('invalid_request', '--output must be text or json')
  const names = chosenNames(words)
  const deps = await createImageDeps(readClusterSettings(), standardErrorProgress(), { push: values.push })
  const results = await buildImages(names, deps)
  for (const result of values.archive === undefined ? [] : results) {
    const file = join(values.archive ?? '.', `${result.name}.tar`)
    await writeImageArchive(result.image, result.reference, deps.store, file)
    deps.progress.note(`${result.name}: written to ${file}`)
  }
  process.stdout.write(
    values.output === 'json' ? `${asJson(results)}\n` : results.map(result => `${result.name} ${result.reference}\n`).join(''),
  )
}

await main().catch((error: unknown) => {
  process.stderr.write(`images: ${messageOf(error)}\n`)
  process.exitCode = 1
})
