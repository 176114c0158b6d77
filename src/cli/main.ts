#!/usr/bin/env node
// `sekisho`: lets Node.js keep the compiled code of the next imports in the person's cache folder, then starts. kubectl runs
// this program for every request, so that compiling it each time would be most of what it costs.
import { enableCompileCache } from 'node:module'
import { compileCacheFolder } from './config.ts'

// The default is below the folder for temporary files, where another user of the computer could put code that we then run.
enableCompileCache(compileCacheFolder())
await import('./start.ts')
