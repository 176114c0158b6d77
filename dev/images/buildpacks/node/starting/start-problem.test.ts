// What is certain to be missing in the image is a problem with its cure; what nobody can be sure of is none.
import { expect, test } from 'vitest'
import { commandOf } from '../../shared/launch.ts'
import { type BuiltImage, startProblem } from './start-problem.ts'

type Given = {
  readonly files?: readonly string[]
  readonly executable?: readonly string[]
  readonly programs?: readonly string[]
  readonly packages?: readonly string[]
  readonly development?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly first?: string
}

function image({
  files = [],
  executable = [],
  programs = [],
  packages = [],
  development = {},
  scripts = {},
  first = '',
}: Given): BuiltImage {
  const path = (folder: string, file: string): string => (folder === '.' ? file : `${folder}/${file}`).replace(/^\.\//, '')
  return {
    when: ' after the build script',
    exists: (folder, file) => (file.startsWith('/') || file.startsWith('..') ? undefined : files.includes(path(folder, file))),
    isExecutable: (folder, file) => executable.includes(path(folder, file)),
    firstLine: () => first,
    hasProgram: (_folder, name) => ['node', 'npm', 'npx', 'sh', 'env', 'sleep', ...programs].includes(name),
    hasPackage: (_folder, name) => packages.includes(name),
    developmentPackageOf: program => development[program],
    isDevelopmentPackage: name => Object.values(development).includes(name),
    scripts: () => scripts,
  }
}

function problem(line: string, given: Given = {}): string | undefined {
  return startProblem({ type: 'web', command: commandOf(line), folder: '.' }, image(given))
}

test.each<[string, Given?]>([
  ['node server.js', { files: ['server.js'] }],
  ['node server', { files: ['server.js'] }],
  ['node dist', { files: ['dist', 'dist/index.js'] }],
  ['node --enable-source-maps --env-file .env -r dotenv/config server.js', { files: ['server.js'], packages: ['dotenv'] }],
  ['node --max-old-space-size=512 server.js', { files: ['server.js'] }],
  ['node /opt/x.js'],
  ['node -e "1"'],
  ['node --run start'],
  ['node --title shop absent.js'],
  ['node --eval=1 absent.js'],
  ['npm start', { files: ['a.js'], scripts: { start: 'node a.js', poststart: 'nodemon' } }],
  ['node $FILE'],
  ['next start', { programs: ['next'] }],
  ['$PROGRAM x'],
  ['test -f a && nodemon a'],
  ['nodemon a || node a'],
  ['npx some-program-of-the-registry'],
  ['sleep 1'],
  ['cd api && node server.js', { files: ['api', 'api/server.js'] }],
  ['cd $DIR && node server.js'],
  ['npm run x --prefix api'],
  ['npm start', { files: ['server.js'] }],
  ['./start.sh', { files: ['start.sh'], executable: ['start.sh'], first: '#!/bin/sh' }],
])('%s may start', (line, given) => {
  expect(problem(line, given)).toBeUndefined()
})

test.each<[string, Given, RegExp]>([
  [
    'nodemon a.js',
    { development: { nodemon: 'nodemon' } },
    /^process web runs nodemon a.js, and nodemon is a program of the package nodemon, .* move nodemon from devDependencies to dependencies/,
  ],
  ['nest start', { development: { nest: '@nestjs/cli' } }, /nest is a program of the package @nestjs\/cli/],
  ['npx nodemon a.js', { development: { nodemon: 'nodemon' } }, /move nodemon from/],
  [
    'NODE_ENV=production nodemon a.js',
    { development: { nodemon: 'nodemon' } },
    /^process web runs NODE_ENV=production nodemon a.js, and nodemon is/,
  ],
  ['cross-env A=b nodemon a.js', { programs: ['cross-env'], development: { nodemon: 'nodemon' } }, /nodemon is a program/],
  ['foo --bar', {}, /the image has no program foo: add the package that contains it to dependencies/],
  ['pnpm --filter api start', {}, /the image has no pnpm: name the program itself/],
  ['yarn workspace api start', {}, /the image has no yarn/],
  ['node dist/a.js', {}, /^process web runs node dist\/a.js, and there is no file dist\/a.js after the build script: correct/],
  ['node --import tsx a.ts', { files: ['a.ts'], development: { tsx: 'tsx' } }, /the package tsx is not in the image: move tsx/],
  ['node -r ts-node/register a.ts', { development: { 'ts-node': 'ts-node' } }, /the package ts-node is not in the image/],
  [
    'npm start',
    { scripts: { start: 'nodemon a.js', prestart: 'node a.js' }, files: ['a.js'], development: { nodemon: 'nodemon' } },
    /^process web runs npm start, and nodemon is/,
  ],
  [
    'npm start',
    { scripts: { start: 'node a.js', prestart: 'tsc' }, files: ['a.js'], development: { tsc: 'typescript' } },
    /tsc is a program of the package typescript/,
  ],
  ['npm run serve', {}, /package.json has no script "serve"/],
  ['bash start.sh', { files: ['start.sh'] }, /the image has no program bash/],
  ['sh start.sh', {}, /there is no file start.sh/],
  ['./start.sh', { files: ['start.sh'] }, /\.\/start\.sh is not executable: run "git update-index/],
  [
    './start.sh',
    { files: ['start.sh'], executable: ['start.sh'], first: '#!/usr/bin/env zsh' },
    /asks for zsh, which is not in the image/,
  ],
  ['./start.sh', { files: ['start.sh'], executable: ['start.sh'], first: '#!/bin/sh\r' }, /line ends of Windows/],
  ['cd api && node server.js', { files: ['api', 'server.js'] }, /there is no file server.js/],
])('%s cannot start', (line, given, sentence) => {
  expect(problem(line, given)).toMatch(sentence)
})
