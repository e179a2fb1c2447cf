/**
 * Loaded before the headgate command. Where the arrays and objects of one line have outlived the rush of a start, V8 places those
 * that the line makes later among its old objects at once. These keep all that they refer to until the next full collection:
 * here the bodies of requests, of which 64 MB force one. With 4,000 nodes nothing was answered for 0.3 s every 15 s. A later V8
 * that does not know this option says so on stderr and goes on.
 */
require('node:v8').setFlagsFromString('--no-allocation-site-pretenuring');
