// The command line of the image builder. Progress goes to standard error, the result (references) to standard output.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../src/lib/errors.ts'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { buildImages, type ImageResult } from './build-images.ts'
import { writeImageArchive } from './image/image-archive.ts'
import { createImageDeps } from './image-deps.ts'
import { type ImageName, imageNames, isImageName } from './recipes/catalog.ts'

const usage = `Usage: node dev/images/main.ts build [name… | all] [--push] [--archive FOLDER] [-o json]
       node dev/images/main.ts --list
Names: ${imageNames.join(', ')}
  --push            push the images to the cluster's registry
  --archive FOLDER  also write each image as a tar file for "ctr images import"
`

function chosenNames(words: readonly string[]): readonly ImageName[] {
  if (words.length === 0 || words.includes('all')) return imageNames
  return words.map(word => {
    if (!isImageName(word)) throw new AppError('invalid_request', `unknown image ${word}; the names are ${imageNames.join(', ')}`)
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

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
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
  if (values.list) {
    print(`${imageNames.join('\n')}\n`)
    return 0
  }
  if (values.help || command !== 'build') return printUsage(usage, values.help)
  if (values.output !== 'text' && values.output !== 'json') throw new AppError('invalid_request', '--output must be text or json')
  const names = chosenNames(words)
  const deps = await createImageDeps(readClusterSettings(), standardErrorProgress(), { push: values.push })
  const results = await buildImages(names, deps)
  for (const result of values.archive === undefined ? [] : results) {
    const file = join(values.archive ?? '.', `${result.name}.tar`)
    await writeImageArchive(result.image, result.reference, deps.store, file)
    deps.progress.note(`${result.name}: written to ${file}`)
  }
  print(
    values.output === 'json' ? `${asJson(results)}\n` : results.map(result => `${result.name} ${result.reference}\n`).join(''),
  )
  return 0
}

await runCommandLine('images', run)
