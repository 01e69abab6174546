// Blocks as objects: captured objects, __block variables, copies, collections, properties, threads.

#import <Block.h>
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <memory>
#include <thread>
#include <vector>

#include "check.h"

static std::atomic<int> g_deallocated{0};

// Counts deallocations.
@interface Witness : NSObject
@end

@implementation Witness
- (void)dealloc {
  ++g_deallocated;
  [super dealloc];
}
@end

typedef int (^Adder)(int);

// Keeps blocks in properties.
@interface Keeper : NSObject {
  Adder _atomicBlock;
  Adder _nonatomicBlock;
}
@property(atomic, copy) Adder atomicBlock;
@property(nonatomic, copy) Adder nonatomicBlock;
@end

@implementation Keeper
@synthesize atomicBlock = _atomicBlock;
@synthesize nonatomicBlock = _nonatomicBlock;
- (void)dealloc {
  [_atomicBlock release];
  [_nonatomicBlock release];
  [super dealloc];
}
@end

static int (^g_global_block)(int) = ^(int x) {
  return x + 1;
};

// Made before main, as a static initialiser.
static Adder g_early_block = [] {
  int offset = 40;
  return (Adder)Block_copy(^(int x) {
    return x + offset;
  });
}();

static Adder make_adder(int offset, id captured) {
  return [[^(int x) {
    return x + offset + (captured ? 0 : 1);
  } copy] autorelease];
}

TEST(captured_objects_are_retained) {
  g_deallocated = 0;
  Adder block;
  @autoreleasepool {
    Witness* witness = [Witness new];
    block = [make_adder(3, witness) retain];
    [witness release];
  }
  CHECK(g_deallocated == 0);
  CHECK(block(4) == 7);
  Adder again = Block_copy(block);
  CHECK(again == block);
  Block_release(again);
  CHECK(g_deallocated == 0);
  [block release];
  CHECK(g_deallocated == 1);
}

TEST(a_block_in_its_scope_is_an_object) {
  int base = 5;
  Adder block = ^(int x) {
    return x + base;
  };
  id object = (id)block;
  CHECK([object isKindOfClass:[NSObject class]]);
  CHECK([object respondsToSelector:@selector(copyWithZone:)]);
  CHECK([object isEqual:object]);
  CHECK([[object description] length] > 0);
  Adder copy = [block copy];
  CHECK(copy(1) == 6);
  CHECK([(id)copy hash] == [(id)copy hash]);
  [copy release];
}

TEST(global_blocks_are_never_copied) {
  CHECK([(id)g_global_block copy] == (id)g_global_block);
  CHECK([(id)g_global_block retain] == (id)g_global_block);
  [(id)g_global_block release];
  Block_release(g_global_block);
  CHECK(g_global_block(1) == 2);
  CHECK(g_early_block(2) == 42);
}

TEST(block_variables_are_shared) {
  __block int count = 0;
  void (^increment)(void) = [^{
    ++count;
  } copy];
  Adder add = [^(int x) {
    return count += x;
  } copy];
  increment();
  CHECK(add(10) == 11);
  ++count;
  increment();
  CHECK(count == 13);
  [increment release];
  CHECK(add(1) == 14);
  [add release];
  CHECK(count == 14);
}

TEST(block_variables_outlive_their_scope) {
  Adder counter;
  {
    __block int total = 100;
    counter = [^(int x) {
      return total += x;
    } copy];
  }
  CHECK(counter(1) == 101);
  CHECK(counter(1) == 102);
  [counter release];
}

TEST(block_variables_of_object_type_are_not_retained) {
  g_deallocated = 0;
  __block Witness* witness = [Witness new];
  void (^block)(void) = [^{
    [witness self];
  } copy];
  [witness release];
  CHECK(g_deallocated == 1);
  witness = nil;
  [block release];
}

TEST(blocks_capture_blocks) {
  g_deallocated = 0;
  Adder outer;
  @autoreleasepool {
    Witness* witness = [[Witness new] autorelease];
    Adder inner = ^(int x) {
      return [witness isKindOfClass:[Witness class]] ? 2 * x : 0;
    };
    outer = [^(int x) {
      return inner(x) + 1;
    } copy];
  }
  CHECK(g_deallocated == 0);
  CHECK(outer(10) == 21);
  [outer release];
  CHECK(g_deallocated == 1);
}

TEST(captured_cxx_objects_are_copied_and_destroyed) {
  auto shared = std::make_shared<int>(7);
  CHECK(shared.use_count() == 1);
  {
    Adder block = ^(int x) {
      return x + *shared;
    };
    Adder copy = [block copy];
    CHECK(shared.use_count() == 3);
    CHECK(copy(1) == 8);
    [copy release];
    CHECK(shared.use_count() == 2);
  }
  CHECK(shared.use_count() == 1);
  {
    __block std::shared_ptr<int> variable = shared;
    void (^reset)(void) = [^{
      variable.reset();
    } copy];
    CHECK(shared.use_count() == 2);
    reset();
    CHECK(shared.use_count() == 1);
    [reset release];
  }
}

TEST(collections_keep_blocks) {
  g_deallocated = 0;
  @autoreleasepool {
    NSMutableArray* array = [NSMutableArray array];
    NSMutableDictionary* map = [NSMutableDictionary dictionary];
    @autoreleasepool {
      for (int i = 0; i < 3; ++i) {
        Witness* witness = [[Witness new] autorelease];
        [array addObject:make_adder(i, witness)];
        [map setObject:make_adder(10 * i, witness) forKey:[NSNumber numberWithInt:i]];
      }
    }
    CHECK(g_deallocated == 0);
    int sum = 0;
    for (id block in array) sum += ((Adder)block)(1);
    for (id key in map) sum += ((Adder)[map objectForKey:key])(1);
    CHECK(sum == (1 + 2 + 3) + (1 + 11 + 21));
    [array removeObjectAtIndex:0];
    CHECK(g_deallocated == 0);
  }
  CHECK(g_deallocated == 3);
}

TEST(properties_copy_blocks) {
  g_deallocated = 0;
  Keeper* keeper = [Keeper new];
  @autoreleasepool {
    Witness* witness = [[Witness new] autorelease];
    int offset = 5;
    [keeper setAtomicBlock:^(int x) {
      return x + offset + (witness ? 0 : 1);
    }];
    [keeper setNonatomicBlock:^(int x) {
      return x - offset - (witness ? 0 : 1);
    }];
  }
  CHECK(g_deallocated == 0);
  @autoreleasepool {
    CHECK([keeper atomicBlock](1) == 6);
    CHECK([keeper nonatomicBlock](1) == -4);
    [keeper setAtomicBlock:nil];
    CHECK(g_deallocated == 0);
  }
  [keeper release];
  CHECK(g_deallocated == 1);
}

TEST(foundation_calls_blocks) {
  NSArray* array = [NSArray arrayWithObjects:@"a", @"b", @"c", nil];
  __block NSUInteger seen = 0;
  NSMutableString* text = [NSMutableString string];
  [array enumerateObjectsUsingBlock:^(id object, NSUInteger index, BOOL* stop) {
    [text appendString:object];
    seen += index;
    if (index == 1) *stop = YES;
  }];
  CHECK([text isEqualToString:@"ab"]);
  CHECK(seen == 1);
}

TEST(counts_are_atomic) {
  g_deallocated = 0;
  constexpr int kThreads = 8;
  constexpr int kRounds = 20000;
  static std::atomic<int> calls{0};
  Adder block;
  @autoreleasepool {
    Witness* witness = [[Witness new] autorelease];
    block = [^(int x) {
      ++calls;
      return x + (witness ? 1 : 0);
    } copy];
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([block] {
      @autoreleasepool {
        for (int i = 0; i < kRounds; ++i) {
          Adder copy = Block_copy(block);
          void (^outer)(void) = [^{
            copy(1);
          } copy];
          if (i % 1000 == 0) outer();
          [outer release];
          [copy retain];
          [copy release];
          Block_release(copy);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(calls == kThreads * kRounds / 1000);
  CHECK(g_deallocated == 0);
  [block release];
  CHECK(g_deallocated == 1);
}

#ifndef __APPLE__
// As on a Mac, where an imitation is asked for; else the block moves, so that nothing is lost.
TEST(retaining_a_block_in_its_scope) {
  int captured = std::atoi("7");
  int (^block)() = ^{
    return captured;
  };
  int (^retained)() = (int (^)())[(id)block retain];
  CHECK((retained == block) == (std::getenv("ALLOY_PRETEND") != nullptr));
  CHECK(retained() == 7);
  [(id)retained release];
  CHECK(block() == 7);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
