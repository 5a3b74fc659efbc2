// SPDX-License-Identifier: BSD-2-Clause. flame.js: hover, zoom and search in a flame graph. Text of frames is read from the picture and put back as text, never as markup.
'use strict';
(function () {
var svg = document.documentElement;
var width = +svg.getAttribute('data-width');
var margin = +svg.getAttribute('data-margin');
var glyph = +svg.getAttribute('data-glyph');

function byId(id) {
  return document.getElementById(id);
}

/* start and end are shares of the whole; names are their title's first line. */
function frameOf(g) {
  var rect = g.querySelector('rect');
  var words = g.querySelector('title').textContent;
  return g.frame = {
    g: g, rect: rect, text: g.querySelector('text'),
    words: words, name: words.split('\n')[0], y: +rect.getAttribute('y'),
    start: +g.getAttribute('data-s'), end: +g.getAttribute('data-e')
  };
}

var frames = Array.from(document.querySelectorAll('g.f'), frameOf);
var root = frames[0];
if (!root)
  return;

function label(name, wide) {
  var fit = Math.floor((wide - 6) / glyph), letters = Array.from(name);
  if (fit < 3)
    return '';
  return letters.length <= fit ? name : letters.slice(0, fit - 2).join('') + '..';
}

function write(f, x, words) {
  if (!f.text) {
    f.text = document.createElementNS(svg.namespaceURI, 'text');
    f.text.setAttribute('y', f.y + 13);
    f.g.appendChild(f.text);
  }
  f.text.setAttribute('x', (margin + x + 3).toFixed(2));
  f.text.textContent = words;
}

function place(f, x, wide) {
  var words = label(f.name, wide);
  f.rect.setAttribute('x', (margin + x).toFixed(2));
  f.rect.setAttribute('width', wide.toFixed(2));
  if (words || f.text)
    write(f, x, words);
}

/* This frame and those above it fill the width; those below are its whole way. */
function zoom(to) {
  var scale = width / (to.end - to.start);
  frames.forEach(function (f) {
    var below = f.y > to.y && f.start <= to.start && f.end >= to.end;
    var inside = f.y <= to.y && f.start >= to.start && f.end <= to.end;
    f.g.style.display = below || inside ? '' : 'none';
    f.g.classList.toggle('below', below);
    if (below)
      place(f, 0, width);
    else if (inside)
      place(f, (f.start - to.start) * scale, (f.end - f.start) * scale);
  });
  byId('reset').style.display = to === root ? 'none' : '';
}

/* A match above another one is part of it: it is not counted again. */
function search(query) {
  var sum = 0, counted = 0;
  query = query.toLowerCase();
  frames.forEach(function (f) {
    var matches = query !== '' && f.name.toLowerCase().includes(query);
    f.g.classList.toggle('match', matches);
    if (matches && f.start >= counted) {
      sum += f.end - f.start;
      counted = f.end;
    }
  });
  byId('matched').textContent =
    query && 'matched: ' + (100 * sum / root.end).toFixed(2) + ' %';
}

function frameAt(event) {
  var g = event.target.closest && event.target.closest('g.f');
  return g ? g.frame : null;
}

var input = byId('query');
byId('tools').style.display = '';
byId('reset').addEventListener('click', function () {
  zoom(root);
});
input.addEventListener('input', function () {
  search(input.value);
});
svg.addEventListener('click', function (event) {
  var f = frameAt(event);
  if (f)
    zoom(f);
});
svg.addEventListener('mouseover', function (event) {
  var f = frameAt(event);
  byId('detail').textContent = f ? f.words.replace('\n', ': ') : '';
});
window.addEventListener('keydown', function (event) {
  if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === 'Escape' && input.value) {
    input.value = '';
    search('');
  } else if (event.key === 'Escape') {
    zoom(root);
  }
});
})();
