import { join } from 'node:path'
import { expect, test } from 'vitest'
import { notState, stateOwners } from './find-state.ts'
import { blocksOf, memoryLines, memoryOf, type SourceFile } from './memory-blocks.ts'
import { productFiles } from './product-files.ts'

const block = `// Memory (labels of images): image by digest → labels,
//     entry point, ports
//   life: the process
//   bound: 256 images
//     of at most 64 KB
//   freshness: none is needed: a digest never changes
//   replicas: each reads`
const file = (text: string, path = 'src/x.ts'): SourceFile => ({ path, text })
const problemsOf = (text: string): readonly string[] => blocksOf(file(text)).problems

test('a block is read with its long texts, wherever it stands', () => {
  const text = `// Reads labels.\n\n${block}\n/** Reads. */\nconst kept = new BoundedMap(9)\n`
  const labels = {
    name: 'labels of images',
    holds: 'image by digest → labels, entry point, ports',
    life: 'the process',
    bound: '256 images of at most 64 KB',
    freshness: 'none is needed: a digest never changes',
    replicas: 'each reads',
  }
  expect(blocksOf(file(text))).toEqual({ blocks: [labels], problems: [] })
  const indented = text.replaceAll(/^/gm, '  ')
  expect(blocksOf(file(`${indented}\n${block.replace('labels of', 'names of')}`)).blocks.map(({ name }) => name)).toEqual([
    'labels of images',
    'names of images',
  ])
  expect(memoryLines(text)).toBe(7)
})

test('a comment about memory is no block', () => {
  expect(blocksOf(file('// Memory, disk and network.\n// In memory: only the leader reconciles.\n'))).toEqual({
    blocks: [],
    problems: [],
  })
})

test.each([
  ['without a name', block.replace(' (labels of images)', ''), 'src/x.ts:1: this memory block has no name'],
  ['that holds nothing', block.replace(/: image.*\n.*ports/, ':'), 'src/x.ts:1: this memory block does not say what it holds'],
  [
    'without a field',
    block.replace(/\/\/ {3}freshness.*\n/, ''),
    'src/x.ts:1: this memory block has life, bound, replicas; it needs life, bound, freshness, replicas in this order',
  ],
  [
    'with a field of another name',
    block.replace('replicas:', 'with two replicas:'),
    'src/x.ts:1: this memory block has life, bound, freshness, with two replicas; it needs life, bound, freshness, replicas in this order',
  ],
  ['with an empty field', block.replace('the process', ''), 'src/x.ts:1: life of this memory block is empty'],
  [
    'with a long line',
    block.replace('each reads', 'x'.repeat(130)),
    'src/x.ts:1: a line of this memory block has more than 130 characters',
  ],
])('a block %s is a problem with its line', (_what, text, problem) => {
  expect(problemsOf(text)).toEqual([problem])
})

test('state without a block is a problem that names file and line; with a block in the file it is none', () => {
  const state = 'const kept = new BoundedMap<string>(9)\n'
  const problem = 'src/x.ts:1: BoundedMap keeps something in memory: write a memory block above what makes it'
  expect(memoryOf([file(state)], {}).problems).toEqual([problem])
  expect(memoryOf([file(`${block}\n${state}`)], {}).problems).toEqual([])
  expect(memoryOf([file(state)], { 'src/x.ts': 'of one call' }).problems).toEqual([])
})

test('an exception that is not needed and two blocks of one name are problems', () => {
  expect(memoryOf([file('')], { 'src/x.ts': 'of one call' }).problems).toEqual([
    'dev/generate/memory/find-state.ts: src/x.ts keeps nothing without a memory block: take it out of notState',
  ])
  expect(memoryOf([file(block), file(block, 'src/y.ts')], {}).problems).toEqual([
    'src/x.ts and src/y.ts: two memory blocks are named “labels of images”',
  ])
})

test('the product has a block for each state, and every owner and exception is one of its files', () => {
  const files = productFiles(join(import.meta.dirname, '../../..'))
  expect(memoryOf(files).problems).toEqual([])
  const paths = files.map(({ path }) => path)
  for (const path of [...Object.values(stateOwners), ...Object.keys(notState)]) expect(paths).toContain(path)
})
